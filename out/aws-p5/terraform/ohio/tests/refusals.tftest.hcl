# What the AWS provider accepts though it is wrong, and this root refuses before anything is built.

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

run "too_many_interfaces" {
  command = plan

  variables {
    pools = {
      gpu = { instance_type = "p4d.24xlarge", nodes = ["gpu0001"], network_cards = 32, efa_interfaces = 32, runs_jobs = true, purchase = "on-demand" }
    }
  }

  expect_failures = [var.pools]
}

run "capacity_block_without_id" {
  command = plan

  variables {
    pools = {
      gpu = { instance_type = "p5.48xlarge", nodes = ["gpu0001"], network_cards = 32, efa_interfaces = 32, runs_jobs = true, purchase = "capacity-block" }
    }
  }

  expect_failures = [var.pools]
}

run "placement_group_beside_a_block" {
  command = plan

  variables {
    pools = {
      gpu = { instance_type = "p5.48xlarge", nodes = ["gpu0001"], network_cards = 32, efa_interfaces = 32, runs_jobs = true, purchase = "capacity-block", reservation_id = "cr-0123456789abcdef0", placement_group = true }
    }
  }

  expect_failures = [var.pools]
}

run "reservation_on_demand" {
  command = plan

  variables {
    pools = {
      gpu = { instance_type = "p5.48xlarge", nodes = ["gpu0001"], network_cards = 32, efa_interfaces = 32, runs_jobs = true, purchase = "on-demand", reservation_id = "cr-0123456789abcdef0" }
    }
  }

  expect_failures = [var.pools]
}

run "name_twice" {
  command = plan

  variables {
    pools = {
      gpu = { instance_type = "p5.48xlarge", nodes = ["gpu0001", "gpu0001"], network_cards = 32, efa_interfaces = 32, runs_jobs = true, purchase = "on-demand" }
    }
  }

  expect_failures = [var.pools]
}

run "node_named_like_the_head" {
  command = plan

  variables {
    heads = { gpu0001 = "m7i.4xlarge" }

    pools = {
      gpu = { instance_type = "p5.48xlarge", nodes = ["gpu0001"], network_cards = 32, efa_interfaces = 32, runs_jobs = true, purchase = "on-demand" }
    }
  }

  expect_failures = [aws_instance.head]
}

run "subnet_too_small" {
  command = plan

  variables {
    private_cidr = "10.64.0.0/28"

    pools = {
      gpu = { instance_type = "p5.48xlarge", nodes = [for n in range(12) : "gpu00${n + 10}"], network_cards = 32, efa_interfaces = 32, runs_jobs = true, purchase = "on-demand" }
    }
  }

  expect_failures = [terraform_data.ready]
}

run "zone_of_another_region" {
  command = plan

  variables {
    region = "eu-north-1"
    zone   = "us-east-2a"
  }

  expect_failures = [terraform_data.ready]
}

run "no_such_capacity" {
  command = plan

  variables {
    file_systems = { fsx = { capacity_gib = 1300, throughput = 250, mount = "/fsx" } }
  }

  expect_failures = [var.file_systems]
}

run "no_such_throughput" {
  command = plan

  variables {
    file_systems = { fsx = { capacity_gib = 4800, throughput = 200, mount = "/fsx" } }
  }

  expect_failures = [var.file_systems]
}

run "ssh_from_everywhere" {
  command = plan

  variables {
    admin_cidrs = ["0.0.0.0/0"]
  }

  expect_failures = [var.admin_cidrs]
}

run "efa_among_few_ports" {
  command = plan

  variables {
    file_systems = {}
    member_ports = [{ from = 6817, to = 6818 }]

    pools = {
      gpu = { instance_type = "p5.48xlarge", nodes = ["gpu0001"], network_cards = 32, efa_interfaces = 32, runs_jobs = true, purchase = "on-demand" }
    }
  }

  expect_failures = [terraform_data.ready]
}

run "lustre_behind_closed_ports" {
  command = plan

  variables {
    pools        = {}
    buckets      = {}
    file_systems = { fsx = { capacity_gib = 4800, throughput = 250, mount = "/fsx" } }
    member_ports = [{ from = 988, to = 988 }, { from = 1019, to = 1023 }]
  }

  expect_failures = [terraform_data.ready]
}

run "group_of_a_network_that_is_not_there_yet" {
  command = plan

  variables {
    security_group_id = "sg-0123456789abcdef0"
    existing_network  = null
  }

  expect_failures = [terraform_data.ready]
}

run "ports_in_the_wrong_order" {
  command = plan

  variables {
    pools        = {}
    member_ports = [{ from = 1023, to = 1018 }]
  }

  expect_failures = [var.member_ports]
}

run "more_interfaces_than_cards" {
  command = plan

  variables {
    pools = {
      gpu = { instance_type = "p5.48xlarge", nodes = ["gpu0001"], network_cards = 32, efa_cards = 32, efa_interfaces = 33, runs_jobs = true, purchase = "on-demand" }
    }
  }

  expect_failures = [var.pools]
}
