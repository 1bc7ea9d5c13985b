# The names in Slurm's files, in hostfiles and in rank files resolve here.
resource "aws_route53_zone" "cluster" {
  name    = var.domain
  comment = "Machines of cluster ${local.name}"

  vpc {
    vpc_id = aws_vpc.main.id
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

resource "aws_vpc_dhcp_options" "cluster" {
  domain_name         = var.domain
  domain_name_servers = ["AmazonProvidedDNS"]

  tags = { Name = local.name }
}

resource "aws_vpc_dhcp_options_association" "cluster" {
  vpc_id          = aws_vpc.main.id
  dhcp_options_id = aws_vpc_dhcp_options.cluster.id
}
