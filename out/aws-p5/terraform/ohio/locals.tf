locals {
  name = "${var.cluster}-${var.site}"

  # Letters, digits, spaces and _ . : / = + - @ are all that every service takes in a tag, 256 at most.
  purpose = trimspace(substr(replace(var.purpose, "/[^\\p{L}\\p{N} _.:\\/=+@-]/", " "), 0, 256))

  # node -> pool; the keys are the identities of the machines.
  nodes = merge([for pool, spec in var.pools : { for node in spec.nodes : node => pool }]...)

  # The last cards carry EFA: all of them on most types, all but card 0 on p6-b300.
  efa_cards = {
    for pool, spec in var.pools :
    pool => range(spec.network_cards - spec.efa_interfaces, spec.network_cards)
  }

  # Only the ENA interface of a machine takes an address. A Lustre file system takes some for its
  # servers; one for each 1200 GiB and one for the metadata is at the safe side.
  addresses_used = (
    length(local.nodes) + length(var.heads)
    + sum(concat([0], [for fs in var.file_systems : 1 + ceil(fs.capacity_gib / 1200)]))
  )
  # AWS keeps the first four addresses of a subnet and the last.
  addresses_free = pow(2, 32 - tonumber(split("/", var.private_cidr)[1])) - 5

  # The same text for every machine of the site, far below the service's 16 KB: who it is, a machine
  # learns from its tags; what it does, from the files in the bucket.
  user_data = templatefile("${path.module}/user-data.sh.tftpl", {
    bucket = aws_s3_bucket.files.bucket
    region = var.region
  })
}

# What a machine needs at its first boot, beside what it names itself.
resource "terraform_data" "ready" {
  depends_on = [
    aws_iam_role_policy.machine,
    aws_route.internet,
    aws_route.nat,
    aws_route_table_association.private,
    aws_route_table_association.public,
    aws_s3_object.boot,
    aws_s3_object.buckets,
    aws_s3_object.fstab,
    aws_s3_object.site,
    aws_s3_object.tree,
    aws_vpc_dhcp_options_association.cluster,
    aws_vpc_endpoint.s3,
    aws_vpc_security_group_egress_rule.internet,
    aws_vpc_security_group_egress_rule.self,
    aws_vpc_security_group_ingress_rule.self,
  ]
}
