# A network and a group of the account, and groups whose members open some ports only.

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
  ami = "ami-0123456789abcdef0"
}

run "into_a_network_that_exists" {
  command = plan

  variables {
    existing_network  = { vpc_id = "vpc-0123456789abcdef0", subnet_id = "subnet-0123456789abcdef0" }
    security_group_id = "sg-0123456789abcdef0"
    member_ports      = null
    public_cidr       = null

    pools = {
      gpu = { instance_type = "p5.48xlarge", nodes = ["gpu0001"], network_cards = 32, efa_interfaces = 32, runs_jobs = true, purchase = "on-demand" }
    }
  }

  assert {
    condition     = length(aws_vpc.main) + length(aws_subnet.private) + length(aws_subnet.public) + length(aws_nat_gateway.main) + length(aws_route.nat) + length(aws_vpc_endpoint.s3) == 0
    error_message = "Nothing is made in the network that exists."
  }

  assert {
    condition     = length(aws_security_group.cluster) + length(aws_vpc_security_group_ingress_rule.self) + length(aws_vpc_security_group_egress_rule.internet) == 0
    error_message = "The rules of a group that exists are its owner's."
  }

  assert {
    condition = alltrue([
      for nic in aws_launch_template.pool["gpu"].network_interfaces :
      nic.subnet_id == "subnet-0123456789abcdef0" && join(",", nic.security_groups) == "sg-0123456789abcdef0"
    ])
    error_message = "Every interface is in the given subnet and group."
  }

  assert {
    condition = alltrue(concat(
      [for head in aws_instance.head : head.subnet_id == "subnet-0123456789abcdef0" && contains(head.vpc_security_group_ids, "sg-0123456789abcdef0")],
      [for fs in aws_fsx_lustre_file_system.data : join(",", fs.subnet_ids) == "subnet-0123456789abcdef0" && join(",", fs.security_group_ids) == "sg-0123456789abcdef0"],
      [for zone in aws_route53_zone.cluster.vpc : zone.vpc_id == "vpc-0123456789abcdef0"],
    ))
    error_message = "Head nodes, file systems and the private zone are where the machines are."
  }
}

run "a_group_of_its_own_in_it" {
  command = plan

  variables {
    existing_network  = { vpc_id = "vpc-0123456789abcdef0", subnet_id = "subnet-0123456789abcdef0" }
    security_group_id = null
    member_ports      = null
    public_cidr       = null
  }

  assert {
    condition     = one(aws_security_group.cluster).vpc_id == "vpc-0123456789abcdef0" && one(aws_vpc_security_group_ingress_rule.self).ip_protocol == "-1" && one(aws_vpc_security_group_egress_rule.self).ip_protocol == "-1"
    error_message = "The group is made in the given network, open to itself in and out."
  }
}

run "some_ports_only" {
  command = plan

  variables {
    existing_network  = null
    security_group_id = null
    public_cidr       = "10.64.255.0/24"
    pools             = {}
    member_ports      = [{ from = 988, to = 988 }, { from = 1018, to = 1023 }]
  }

  assert {
    condition     = length(aws_vpc_security_group_ingress_rule.self) + length(aws_vpc_security_group_egress_rule.self) == 0
    error_message = "With ports, not everything passes."
  }

  assert {
    condition = alltrue([
      for rules in [aws_vpc_security_group_ingress_rule.port, aws_vpc_security_group_egress_rule.port] :
      join(" ", [for rule in rules : "${rule.ip_protocol} ${rule.from_port}-${rule.to_port}"]) == "tcp 1018-1023 tcp 988-988"
    ])
    error_message = "Each range of ports is open in both directions."
  }
}
