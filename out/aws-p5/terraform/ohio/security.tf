# EFA traffic passes only inside a group that allows all of it to itself, in and out. Slurm, Lustre
# and NCCL's own connections use the same rules. The rules of a group that exists stay as they are.
resource "aws_security_group" "cluster" {
  count = var.security_group_id == null ? 1 : 0

  name        = "${local.name}-cluster"
  description = "Nodes, head node and file systems"
  vpc_id      = local.vpc_id

  tags = { Name = "${local.name}-cluster" }
}

resource "aws_vpc_security_group_ingress_rule" "self" {
  count = var.security_group_id == null && var.member_ports == null ? 1 : 0

  security_group_id            = aws_security_group.cluster[0].id
  referenced_security_group_id = aws_security_group.cluster[0].id
  ip_protocol                  = "-1"
  description                  = "EFA, Slurm and Lustre among the machines"
}

resource "aws_vpc_security_group_egress_rule" "self" {
  count = var.security_group_id == null && var.member_ports == null ? 1 : 0

  security_group_id            = aws_security_group.cluster[0].id
  referenced_security_group_id = aws_security_group.cluster[0].id
  ip_protocol                  = "-1"
  description                  = "EFA, Slurm and Lustre among the machines"
}

resource "aws_vpc_security_group_ingress_rule" "port" {
  for_each = local.member_ports

  security_group_id            = aws_security_group.cluster[0].id
  referenced_security_group_id = aws_security_group.cluster[0].id
  ip_protocol                  = "tcp"
  from_port                    = each.value.from
  to_port                      = each.value.to
  description                  = "Among the machines"
}

resource "aws_vpc_security_group_egress_rule" "port" {
  for_each = local.member_ports

  security_group_id            = aws_security_group.cluster[0].id
  referenced_security_group_id = aws_security_group.cluster[0].id
  ip_protocol                  = "tcp"
  from_port                    = each.value.from
  to_port                      = each.value.to
  description                  = "Among the machines"
}

resource "aws_vpc_security_group_egress_rule" "internet" {
  count = var.security_group_id == null ? 1 : 0

  security_group_id = aws_security_group.cluster[0].id
  cidr_ipv4         = "0.0.0.0/0"
  ip_protocol       = "-1"
  description       = "Packages and AWS services"
}

resource "aws_security_group" "head" {
  name        = "${local.name}-head"
  description = "SSH to the head node"
  vpc_id      = local.vpc_id

  tags = { Name = "${local.name}-head" }
}

resource "aws_vpc_security_group_ingress_rule" "ssh" {
  for_each = toset(var.admin_cidrs)

  security_group_id = aws_security_group.head.id
  cidr_ipv4         = each.key
  ip_protocol       = "tcp"
  from_port         = 22
  to_port           = 22
  description       = "SSH from an administrators' network"
}

# One key for disks, buckets, file systems and the munge key. Without it the data cannot be read: the guard of storage.tf.
resource "aws_kms_key" "main" {
  description             = "Data of cluster ${local.name}"
  enable_key_rotation     = true
  deletion_window_in_days = 30
  policy                  = data.aws_iam_policy_document.key.json

  tags = { Name = local.name }

  lifecycle {
    prevent_destroy = true
  }
}

resource "aws_kms_alias" "main" {
  name          = "alias/${local.name}"
  target_key_id = aws_kms_key.main.key_id
}

# Worked out by the provider from the region, without a call.
data "aws_partition" "current" {}

data "aws_iam_policy_document" "key" {
  statement {
    sid       = "Account"
    actions   = ["kms:*"]
    resources = ["*"] # a key policy's resource is the key itself

    principals {
      type        = "AWS"
      identifiers = ["arn:${data.aws_partition.current.partition}:iam::${aws_security_group.head.owner_id}:root"]
    }
  }

  # A file system reaches its bucket as a service-linked role of its own, which exists only after the
  # file system does: hence the pattern.
  statement {
    sid       = "FileSystemsToBuckets"
    actions   = ["kms:Encrypt", "kms:Decrypt", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:DescribeKey"]
    resources = ["*"]

    principals {
      type        = "AWS"
      identifiers = ["*"]
    }

    condition {
      test     = "StringEquals"
      variable = "kms:CallerAccount"
      values   = [aws_security_group.head.owner_id]
    }

    condition {
      test     = "StringEquals"
      variable = "kms:ViaService"
      values   = ["s3.${var.region}.${data.aws_partition.current.dns_suffix}"]
    }

    condition {
      test     = "ArnLike"
      variable = "aws:PrincipalArn"
      values   = ["arn:${data.aws_partition.current.partition}:iam::${aws_security_group.head.owner_id}:role/aws-service-role/s3.data-source.lustre.fsx.amazonaws.com/AWSServiceRoleForFSxS3Access_*"]
    }
  }
}
