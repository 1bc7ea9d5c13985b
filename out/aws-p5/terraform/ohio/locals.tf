locals {
  name = "${var.cluster}-${var.site}"

  # Letters, digits, spaces and _ . : / = + - @ are all that every service takes in a tag, 256 at most.
  purpose = trimspace(substr(replace(var.purpose, "/[^\\p{L}\\p{N} _.:\\/=+@-]/", " "), 0, 256))

  # node -> pool; the keys are the identities of the machines.
  nodes = merge([for pool, spec in var.pools : { for node in spec.nodes : node => pool }]...)

  # The last cards can carry EFA: all of them on most types, all but card 0 on p6-b300. Who takes fewer
  # interfaces gets them evenly spread, as the cards are over the GPUs.
  efa_cards = {
    for pool, spec in var.pools :
    pool => [
      for i in range(spec.efa_interfaces) :
      spec.network_cards - coalesce(spec.efa_cards, spec.efa_interfaces) + floor(i * coalesce(spec.efa_cards, spec.efa_interfaces) / spec.efa_interfaces)
    ]
  }

  vpc_id    = var.existing_network == null ? one(aws_vpc.main[*].id) : var.existing_network.vpc_id
  subnet_id = var.existing_network == null ? one(aws_subnet.private[*].id) : var.existing_network.subnet_id
  group_id  = var.security_group_id == null ? one(aws_security_group.cluster[*].id) : var.security_group_id

  # The ports are the identities of the rules.
  member_ports = {
    for open in var.security_group_id == null && var.member_ports != null ? var.member_ports : [] : "${open.from}-${open.to}" => open
  }

  # FSx for Lustre User Guide, "File system access control with Amazon VPC".
  lustre_ports = concat([988], range(1018, 1024))
  closed_ports = var.member_ports == null ? [] : [
    for port in local.lustre_ports : port if !anytrue([for open in var.member_ports : open.from <= port && port <= open.to])
  ]

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
    aws_vpc_security_group_egress_rule.port,
    aws_vpc_security_group_egress_rule.self,
    aws_vpc_security_group_ingress_rule.port,
    aws_vpc_security_group_ingress_rule.self,
  ]

  lifecycle {
    precondition {
      condition     = startswith(var.zone, var.region)
      error_message = "Zone ${var.zone} is not in region ${var.region}."
    }

    precondition {
      condition     = local.addresses_used <= local.addresses_free
      error_message = "private_cidr ${var.private_cidr} offers ${local.addresses_free} addresses; machines and file systems need ${local.addresses_used}."
    }

    precondition {
      condition     = var.existing_network != null || var.public_cidr != null
      error_message = "A network that is made needs its public_cidr."
    }

    precondition {
      condition     = var.security_group_id == null || var.existing_network != null
      error_message = "A security group belongs to its VPC: security_group_id needs existing_network."
    }

    precondition {
      condition     = var.member_ports == null || alltrue([for pool in var.pools : pool.efa_interfaces == 0])
      error_message = "EFA passes only in a group that lets all of it to itself: no member_ports beside it."
    }

    precondition {
      condition     = length(var.file_systems) == 0 || length(local.closed_ports) == 0
      error_message = "Lustre needs TCP ${join(", ", local.closed_ports)} among the members of the group."
    }
  }
}
