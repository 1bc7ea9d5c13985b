# Data: neither a change nor `terraform destroy` may take it. Who means to delete a cluster for good
# takes the guard out first, in a commit that someone reads.

resource "aws_fsx_lustre_file_system" "data" {
  for_each = var.file_systems

  deployment_type             = "PERSISTENT_2"
  storage_type                = "SSD"
  file_system_type_version    = "2.15"
  storage_capacity            = each.value.capacity_gib
  per_unit_storage_throughput = each.value.throughput
  data_compression_type       = "LZ4"

  subnet_ids                    = [local.subnet_id]
  security_group_ids            = [local.group_id]
  kms_key_id                    = aws_kms_key.main.arn
  weekly_maintenance_start_time = each.value.maintenance_time

  metadata_configuration {
    mode = "AUTOMATIC"
  }

  tags = { Name = "${local.name}-${each.key}" }

  lifecycle {
    prevent_destroy = true
  }
}

resource "aws_s3_bucket" "data" {
  for_each = var.buckets

  bucket_prefix = substr("${each.value.prefix}-", 0, 37)

  tags = { Name = "${local.name}-${each.key}" }

  lifecycle {
    prevent_destroy = true
  }
}

resource "aws_s3_bucket_public_access_block" "data" {
  for_each = aws_s3_bucket.data

  bucket                  = each.value.id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_s3_bucket_versioning" "data" {
  for_each = aws_s3_bucket.data

  bucket = each.value.id

  versioning_configuration {
    status = "Enabled"
  }
}

resource "aws_s3_bucket_server_side_encryption_configuration" "data" {
  for_each = aws_s3_bucket.data

  bucket = each.value.id

  rule {
    bucket_key_enabled = true

    apply_server_side_encryption_by_default {
      sse_algorithm     = "aws:kms"
      kms_master_key_id = aws_kms_key.main.arn
    }
  }
}

resource "aws_s3_bucket_lifecycle_configuration" "data" {
  for_each = aws_s3_bucket.data

  bucket = each.value.id

  rule {
    id     = "forget-overwritten"
    status = "Enabled"

    filter {}

    noncurrent_version_expiration {
      noncurrent_days = var.buckets[each.key].noncurrent_days
    }

    abort_incomplete_multipart_upload {
      days_after_initiation = 7
    }
  }

  # The rule speaks of versions: versioning comes first.
  depends_on = [aws_s3_bucket_versioning.data]
}

# A folder of the file system and its bucket follow each other.
resource "aws_fsx_data_repository_association" "data" {
  for_each = { for name, fs in var.file_systems : name => fs if fs.repository != null }

  file_system_id       = aws_fsx_lustre_file_system.data[each.key].id
  file_system_path     = each.value.repository_path
  data_repository_path = "s3://${aws_s3_bucket.data[each.value.repository].bucket}/${each.key}"

  s3 {
    auto_import_policy {
      events = ["NEW", "CHANGED", "DELETED"]
    }

    auto_export_policy {
      events = ["NEW", "CHANGED", "DELETED"]
    }
  }

  # The service writes as the bucket says: encrypted, once that is set.
  depends_on = [aws_s3_bucket_server_side_encryption_configuration.data]
}
