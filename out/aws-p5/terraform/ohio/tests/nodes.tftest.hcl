# terraform test: no account, no network, nothing is built. Reads terraform.tfvars.json like every other command.

mock_provider "aws" {
  mock_data "aws_partition" {
    defaults = {
      partition  = "aws"
      dns_suffix = "amazonaws.com"
    }
  }

  mock_data "aws_iam_policy_document" {
    defaults = { json = "{\"Version\":\"2012-10-17\",\"Statement\":[]}" }
  }
}

variables {
  ami          = "ami-0123456789abcdef0"
  member_ports = null # the pools below have EFA
}

run "as_generated" {
  command = plan

  assert {
    condition     = join(",", keys(aws_instance.node)) == join(",", sort(flatten([for pool in var.pools : pool.nodes])))
    error_message = "One machine for each node of each pool."
  }

  assert {
    condition     = join(",", keys(aws_route53_record.machine)) == join(",", sort(concat(flatten([for pool in var.pools : pool.nodes]), keys(var.heads))))
    error_message = "Every machine has its name in the private zone."
  }

  assert {
    condition     = alltrue([for node, machine in aws_instance.node : machine.tags.Name == node])
    error_message = "A machine takes its name from its tag."
  }

  assert {
    condition = alltrue([
      for pool, template in aws_launch_template.pool :
      length(template.network_interfaces) == 1 + var.pools[pool].efa_interfaces
      && length([for nic in template.network_interfaces : nic if nic.interface_type == "interface"]) == 1
      && length([for nic in template.network_interfaces : nic if nic.interface_type == "efa-only"]) == var.pools[pool].efa_interfaces
    ])
    error_message = "One ENA interface, and the EFA-only interfaces of the type."
  }

  assert {
    condition = alltrue([
      for template in aws_launch_template.pool :
      length(template.network_interfaces) == length(distinct([for nic in template.network_interfaces : "${nic.network_card_index}/${nic.device_index}"]))
    ])
    error_message = "Two interfaces share a card and a device."
  }

  assert {
    condition = alltrue([
      for pool, template in aws_launch_template.pool :
      (var.pools[pool].placement_group != null || length(template.placement) + length(template.capacity_reservation_specification) <= 1)
      && (length(template.capacity_reservation_specification) == 1) == (var.pools[pool].reservation_id != null)
      && join(",", template.instance_market_options[*].market_type) == (contains(["spot", "capacity-block"], var.pools[pool].purchase) ? var.pools[pool].purchase : "")
    ])
    error_message = "A placement group or a reservation, and both only on request; the market of the purchase."
  }

  assert {
    condition = alltrue([
      for options in concat(flatten([for template in aws_launch_template.pool : template.metadata_options]), flatten([for head in aws_instance.head : head.metadata_options])) :
      options.http_tokens == "required" && options.http_put_response_hop_limit == 1 && options.instance_metadata_tags == "enabled"
    ])
    error_message = "Metadata service of version 2 only, no further than the machine itself, with tags."
  }

  assert {
    condition = alltrue([
      for disk in concat(flatten([for machine in aws_instance.node : machine.root_block_device]), flatten([for machine in aws_instance.head : machine.root_block_device])) :
      disk.encrypted
    ])
    error_message = "System disks are encrypted."
  }
}

run "p5_has_33_interfaces" {
  command = plan

  variables {
    pools = {
      gpu = {
        instance_type  = "p5.48xlarge"
        nodes          = ["gpu0001", "gpu0002"]
        network_cards  = 32
        efa_interfaces = 32
        runs_jobs      = true
        purchase       = "on-demand"
      }
    }
  }

  assert {
    condition     = length(aws_launch_template.pool["gpu"].network_interfaces) == 33
    error_message = "p5.48xlarge: one ENA and 32 EFA-only interfaces."
  }

  assert {
    condition = tolist([
      for nic in aws_launch_template.pool["gpu"].network_interfaces : nic.device_index if nic.interface_type == "efa-only"
    ]) == tolist(concat([1], [for card in range(1, 32) : 0]))
    error_message = "On card 0 the ENA interface is device 0 and EFA device 1; on the others EFA is device 0."
  }

  assert {
    condition     = length(aws_placement_group.pool) == 1 && length(aws_launch_template.pool["gpu"].placement) == 1
    error_message = "Machines on demand stand in a cluster placement group."
  }
}

run "p6_b300_leaves_card_0_to_ip" {
  command = plan

  variables {
    pools = {
      gpu = {
        instance_type  = "p6-b300.48xlarge"
        nodes          = ["gpu0001"]
        network_cards  = 17
        efa_interfaces = 16
        runs_jobs      = true
        purchase       = "capacity-block"
        reservation_id = "cr-0123456789abcdef0"
      }
    }
  }

  assert {
    condition = tolist([
      for nic in aws_launch_template.pool["gpu"].network_interfaces : nic.network_card_index if nic.interface_type == "efa-only"
    ]) == tolist(range(1, 17))
    error_message = "p6-b300.48xlarge: EFA on cards 1 to 16."
  }

  assert {
    condition     = length(aws_placement_group.pool) == 0
    error_message = "A capacity block has no placement group beside it."
  }
}

run "fewer_interfaces_are_spread" {
  command = plan

  variables {
    pools = {
      half = {
        instance_type  = "p5.48xlarge"
        nodes          = ["half0001"]
        network_cards  = 32
        efa_cards      = 32
        efa_interfaces = 8
        runs_jobs      = true
        purchase       = "on-demand"
      }
      none = {
        instance_type  = "p5.48xlarge"
        nodes          = ["none0001"]
        network_cards  = 32
        efa_cards      = 32
        efa_interfaces = 0
        runs_jobs      = true
        purchase       = "on-demand"
      }
      few = {
        instance_type  = "p6-b300.48xlarge"
        nodes          = ["few0001"]
        network_cards  = 17
        efa_cards      = 16
        efa_interfaces = 8
        runs_jobs      = true
        purchase       = "on-demand"
      }
    }
  }

  assert {
    condition = [
      for pool in ["few", "half", "none"] :
      join(" ", [for nic in aws_launch_template.pool[pool].network_interfaces : nic.network_card_index if nic.interface_type == "efa-only"])
    ] == ["1 3 5 7 9 11 13 15", "0 4 8 12 16 20 24 28", ""]
    error_message = "One EFA interface for each GPU is on a card near it; p6-b300.48xlarge leaves card 0 to IP."
  }

  assert {
    condition     = join(",", keys(aws_placement_group.pool)) == "few,half"
    error_message = "Machines without EFA need no placement group."
  }
}

run "spot_machines_stand_together" {
  command = plan

  variables {
    pools = {
      gpu = {
        instance_type  = "p5.48xlarge"
        nodes          = ["gpu0001"]
        network_cards  = 32
        efa_interfaces = 32
        runs_jobs      = true
        purchase       = "spot"
      }
      far = {
        instance_type   = "p5.48xlarge"
        nodes           = ["far0001"]
        network_cards   = 32
        efa_interfaces  = 32
        runs_jobs       = true
        purchase        = "spot"
        placement_group = false
      }
    }
  }

  assert {
    condition     = aws_launch_template.pool["gpu"].instance_market_options[0].market_type == "spot"
    error_message = "Spot machines are asked for on the spot market."
  }

  assert {
    condition     = join(",", keys(aws_placement_group.pool)) == "gpu"
    error_message = "Machines with EFA stand in a group of their own, unless the blueprint says otherwise."
  }
}
