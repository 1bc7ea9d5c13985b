# For tests only: lets `terraform destroy` take the data of a cluster that never was. Never a part of a generated tree.

resource "aws_fsx_lustre_file_system" "data" {
  lifecycle {
    prevent_destroy = false
  }
}

resource "aws_s3_bucket" "data" {
  lifecycle {
    prevent_destroy = false
  }
}

resource "aws_kms_key" "main" {
  lifecycle {
    prevent_destroy = false
  }
}
