# Unless the blueprint says otherwise, only machines bought one by one get a placement group: a
# reservation or a capacity block says by itself where its machines stand, and a group beside it fails.
resource "aws_placement_group" "pool" {
  for_each = {
    for pool, spec in var.pools : pool => spec
    if spec.placement_group == null ? spec.reservation_id == null && spec.efa_interfaces > 0 : spec.placement_group
  }

  name     = "${local.name}-${each.key}"
  strategy = "cluster"
}

resource "aws_launch_template" "pool" {
  for_each = var.pools

  name                   = "${local.name}-${each.key}"
  description            = "Compute nodes of pool ${each.key}"
  image_id               = var.ami
  instance_type          = each.value.instance_type
  ebs_optimized          = true
  user_data              = base64encode(local.user_data)
  update_default_version = true

  iam_instance_profile {
    arn = aws_iam_instance_profile.machine["node"].arn
  }

  metadata_options {
    http_endpoint               = "enabled"
    http_tokens                 = "required"
    http_put_response_hop_limit = 1 # a container on the node does not get the node's role
    instance_metadata_tags      = "enabled"
  }

  monitoring {
    enabled = true
  }

  # The one interface with an address.
  network_interfaces {
    network_card_index    = 0
    device_index          = 0
    interface_type        = "interface"
    subnet_id             = local.subnet_id
    security_groups       = [local.group_id]
    delete_on_termination = true
  }

  # Card 0 has the interface above as its device 0.
  dynamic "network_interfaces" {
    for_each = local.efa_cards[each.key]

    content {
      network_card_index    = network_interfaces.value
      device_index          = network_interfaces.value == 0 ? 1 : 0
      interface_type        = "efa-only"
      subnet_id             = local.subnet_id
      security_groups       = [local.group_id]
      delete_on_termination = true
    }
  }

  dynamic "placement" {
    for_each = contains(keys(aws_placement_group.pool), each.key) ? [aws_placement_group.pool[each.key].name] : []

    content {
      group_name = placement.value
    }
  }

  dynamic "instance_market_options" {
    for_each = contains(["spot", "capacity-block"], each.value.purchase) ? [each.value.purchase] : []

    content {
      market_type = instance_market_options.value
    }
  }

  dynamic "capacity_reservation_specification" {
    for_each = each.value.reservation_id == null ? [] : [each.value.reservation_id]

    content {
      capacity_reservation_target {
        capacity_reservation_id = capacity_reservation_specification.value
      }
    }
  }
}

resource "aws_instance" "node" {
  for_each = local.nodes

  launch_template {
    id      = aws_launch_template.pool[each.value].id
    version = aws_launch_template.pool[each.value].latest_version
  }

  # Here and not in the template: the provider finds out the name of the image's root device.
  root_block_device {
    volume_type = "gp3"
    volume_size = var.root_volume_gib
    encrypted   = true
    kms_key_id  = aws_kms_key.main.arn
  }

  # The machine reads these at boot.
  tags = {
    Name          = each.key
    Role          = var.pools[each.value].runs_jobs ? "node" : "login"
    Pool          = each.value
    EfaInterfaces = tostring(var.pools[each.value].efa_interfaces)
  }

  # A new template reaches new machines. Old ones stay until they are replaced on purpose:
  # terraform apply -replace='aws_instance.node["gpu0001"]'
  lifecycle {
    ignore_changes = [user_data, launch_template[0].version]
  }

  depends_on = [terraform_data.ready]
}
