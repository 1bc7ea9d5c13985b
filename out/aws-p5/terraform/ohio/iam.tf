data "aws_iam_policy_document" "assume" {
  statement {
    actions = ["sts:AssumeRole"]

    principals {
      type        = "Service"
      identifiers = ["ec2.amazonaws.com"]
    }
  }
}

# What every machine may do.
data "aws_iam_policy_document" "machine" {
  statement {
    sid       = "ListFiles"
    actions   = ["s3:ListBucket"]
    resources = [aws_s3_bucket.files.arn]
  }

  statement {
    sid       = "ReadFiles"
    actions   = ["s3:GetObject"]
    resources = ["${aws_s3_bucket.files.arn}/*"]
  }

  dynamic "statement" {
    for_each = length(aws_s3_bucket.data) == 0 ? [] : [1]

    content {
      sid       = "ListData"
      actions   = ["s3:ListBucket", "s3:ListBucketMultipartUploads"]
      resources = [for bucket in aws_s3_bucket.data : bucket.arn]
    }
  }

  dynamic "statement" {
    for_each = length(aws_s3_bucket.data) == 0 ? [] : [1]

    content {
      sid       = "UseData"
      actions   = ["s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"]
      resources = [for bucket in aws_s3_bucket.data : "${bucket.arn}/*"]
    }
  }

  statement {
    sid       = "UseKey"
    actions   = ["kms:Decrypt", "kms:GenerateDataKey"]
    resources = [aws_kms_key.main.arn]
  }

  statement {
    sid       = "ReadMungeKey"
    actions   = ["secretsmanager:GetSecretValue"]
    resources = [aws_secretsmanager_secret.munge.arn]
  }

  # Session Manager, the way in without an open port. These actions know no narrower resource.
  statement {
    sid = "SessionManager"
    actions = [
      "ssm:UpdateInstanceInformation",
      "ssmmessages:CreateControlChannel",
      "ssmmessages:CreateDataChannel",
      "ssmmessages:OpenControlChannel",
      "ssmmessages:OpenDataChannel",
    ]
    resources = ["*"]
  }
}

# The head node makes the munge key; no other machine may set it.
data "aws_iam_policy_document" "head" {
  source_policy_documents = [data.aws_iam_policy_document.machine.json]

  statement {
    sid       = "WriteMungeKey"
    actions   = ["secretsmanager:PutSecretValue"]
    resources = [aws_secretsmanager_secret.munge.arn]
  }
}

locals {
  roles = {
    node = data.aws_iam_policy_document.machine.json
    head = data.aws_iam_policy_document.head.json
  }
}

resource "aws_iam_role" "machine" {
  for_each = local.roles

  name_prefix        = "${substr(local.name, 0, 32)}-${each.key}-" # IAM takes 38 characters here
  description        = "Machines of cluster ${local.name}: ${each.key}"
  assume_role_policy = data.aws_iam_policy_document.assume.json
}

resource "aws_iam_role_policy" "machine" {
  for_each = local.roles

  name   = "cluster"
  role   = aws_iam_role.machine[each.key].id
  policy = each.value
}

resource "aws_iam_instance_profile" "machine" {
  for_each = local.roles

  name_prefix = "${substr(local.name, 0, 32)}-${each.key}-"
  role        = aws_iam_role.machine[each.key].name
}
