# The names in Slurm's files, in hostfiles and in rank files resolve here.
resource "aws_route53_zone" "cluster" {
  name    = var.domain
  comment = "Machines of cluster ${local.name}"

  vpc {
    vpc_id = local.vpc_id
  }
}

resource "aws_route53_record" "machine" {
  for_each = merge(aws_instance.node, aws_instance.head)

  zone_id = aws_route53_zone.cluster.zone_id
  name    = "${each.key}.${var.domain}"
  type    = "A"
  ttl     = 60
  records = [each.value.private_ip]
}

# Machines search the domain by themselves, too: options of a network that exists are its owner's.
resource "aws_vpc_dhcp_options" "cluster" {
  count = var.existing_network == null ? 1 : 0

  domain_name         = var.domain
  domain_name_servers = ["AmazonProvidedDNS"]

  tags = { Name = local.name }
}

resource "aws_vpc_dhcp_options_association" "cluster" {
  count = var.existing_network == null ? 1 : 0

  vpc_id          = aws_vpc.main[0].id
  dhcp_options_id = aws_vpc_dhcp_options.cluster[0].id
}
