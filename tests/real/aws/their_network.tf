# For tests only: what an account has before a cluster moves in.

provider "aws" {
  region = "us-east-2"
}

resource "aws_vpc" "theirs" {
  cidr_block           = "10.80.0.0/16"
  enable_dns_support   = true
  enable_dns_hostnames = true
}

resource "aws_subnet" "theirs" {
  vpc_id            = aws_vpc.theirs.id
  availability_zone = "us-east-2a"
  cidr_block        = "10.80.1.0/24"
}

resource "aws_security_group" "theirs" {
  name   = "theirs"
  vpc_id = aws_vpc.theirs.id

  ingress {
    protocol  = "-1"
    from_port = 0
    to_port   = 0
    self      = true
  }

  egress {
    protocol  = "-1"
    from_port = 0
    to_port   = 0
    self      = true
  }
}

output "vpc" {
  value = aws_vpc.theirs.id
}

output "subnet" {
  value = aws_subnet.theirs.id
}

output "group" {
  value = aws_security_group.theirs.id
}
