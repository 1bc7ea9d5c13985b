# Plans alone: what Terraform applies for a test it destroys again, and the guard of the key refuses that.

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

run "plan" {
  command = plan

  assert {
    condition = alltrue([
      for fs in aws_fsx_lustre_file_system.data :
      fs.deployment_type == "PERSISTENT_2" && fs.storage_type == "SSD" && length(fs.metadata_configuration) == 1
    ])
    error_message = "Persistent SSD file systems of the second generation, metadata sized by the service."
  }

  assert {
    condition     = join(",", keys(aws_s3_bucket_public_access_block.data)) == join(",", keys(var.buckets)) && alltrue([for block in aws_s3_bucket_public_access_block.data : block.block_public_acls && block.block_public_policy && block.ignore_public_acls && block.restrict_public_buckets])
    error_message = "No bucket is public."
  }

  assert {
    condition     = join(",", keys(aws_s3_bucket_versioning.data)) == join(",", keys(var.buckets)) && alltrue([for bucket in aws_s3_bucket_versioning.data : bucket.versioning_configuration[0].status == "Enabled"])
    error_message = "Buckets keep what was overwritten."
  }

  assert {
    condition     = length(aws_fsx_data_repository_association.data) == length([for fs in var.file_systems : fs if fs.repository != null])
    error_message = "A file system follows the bucket it names."
  }

  assert {
    condition = (
      join(",", aws_vpc_security_group_ingress_rule.self[*].ip_protocol) == join(",", aws_vpc_security_group_egress_rule.self[*].ip_protocol)
      && length(aws_vpc_security_group_ingress_rule.self) + length(aws_vpc_security_group_ingress_rule.port) >= (var.security_group_id == null ? 1 : 0)
      && (var.security_group_id != null || var.member_ports != null || one(aws_vpc_security_group_ingress_rule.self[*].ip_protocol) == "-1")
    )
    error_message = "EFA: all traffic in and out, among the machines, unless the group is there or its ports are said."
  }

  assert {
    condition     = join(",", aws_subnet.private[*].availability_zone) == join(",", aws_subnet.public[*].availability_zone)
    error_message = "One zone."
  }
}

run "without_storage" {
  command = plan

  variables {
    file_systems = {}
    buckets      = {}
  }

  assert {
    condition     = length(aws_fsx_lustre_file_system.data) == 0 && length(aws_s3_bucket.data) == 0 && aws_s3_object.fstab.content == ""
    error_message = "Without storage nothing is mounted."
  }

  # The service takes 16 KB before base64; the name of the bucket, known only once it is there, has 63 characters at most.
  assert {
    condition     = length(file("${path.module}/user-data.sh.tftpl")) + 4 * 63 < 16384
    error_message = "User data is too long."
  }
}
