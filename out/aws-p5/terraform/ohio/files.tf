# The cluster's files, for the machines to fetch. A bucket of its own, which machines read and never
# write: whoever could write here would be root on every node. Its contents come from this tree, so it
# is kept without versions and goes with the cluster.
resource "aws_s3_bucket" "files" {
  bucket_prefix = substr("${local.name}-files-", 0, 37)
  force_destroy = true

  tags = { Name = "${local.name}-files" }
}

resource "aws_s3_bucket_public_access_block" "files" {
  bucket                  = aws_s3_bucket.files.id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_s3_bucket_server_side_encryption_configuration" "files" {
  bucket = aws_s3_bucket.files.id

  rule {
    bucket_key_enabled = true

    apply_server_side_encryption_by_default {
      sse_algorithm     = "aws:kms"
      kms_master_key_id = aws_kms_key.main.arn
    }
  }
}

locals {
  tree = "${path.module}/../.." # the folder of the cluster
}

resource "aws_s3_object" "tree" {
  for_each = fileset(local.tree, "{slurm,nccl,training}/**")

  bucket      = aws_s3_bucket.files.bucket
  key         = each.key
  source      = "${local.tree}/${each.key}"
  source_hash = filesha256("${local.tree}/${each.key}") # an encrypted object's etag is no checksum

  depends_on = [aws_s3_bucket_server_side_encryption_configuration.files]
}

resource "aws_s3_object" "boot" {
  for_each = fileset("${path.module}/boot", "*.sh")

  bucket      = aws_s3_bucket.files.bucket
  key         = "boot/${each.key}"
  source      = "${path.module}/boot/${each.key}"
  source_hash = filesha256("${path.module}/boot/${each.key}")

  depends_on = [aws_s3_bucket_server_side_encryption_configuration.files]
}

# What only this root knows, in the words of the shell. Every value is checked where it is declared.
resource "aws_s3_object" "site" {
  bucket = aws_s3_bucket.files.bucket
  key    = "site/site.env"

  content = join("\n", [
    "CLUSTER='${var.cluster}'",
    "DOMAIN='${var.domain}'",
    "REGION='${var.region}'",
    "FILES_BUCKET='${aws_s3_bucket.files.bucket}'",
    "HEADS='${join(" ", keys(var.heads))}'",
    "SLURM_VERSION='${var.slurm_version == null ? "" : var.slurm_version}'",
    "MUNGE_SECRET='${aws_secretsmanager_secret.munge.name}'",
    "",
  ])

  depends_on = [aws_s3_bucket_server_side_encryption_configuration.files]
}

resource "aws_s3_object" "fstab" {
  bucket = aws_s3_bucket.files.bucket
  key    = "site/fstab"

  content = join("", [
    for name, fs in aws_fsx_lustre_file_system.data :
    "${fs.dns_name}@tcp:/${fs.mount_name} ${var.file_systems[name].mount} lustre defaults,noatime,flock,_netdev,x-systemd.requires=network-online.target 0 0\n"
  ])

  depends_on = [aws_s3_bucket_server_side_encryption_configuration.files]
}

resource "aws_s3_object" "buckets" {
  bucket = aws_s3_bucket.files.bucket
  key    = "site/buckets"

  content = join("", [for name, bucket in aws_s3_bucket.data : "${name} s3://${bucket.bucket}\n"])

  depends_on = [aws_s3_bucket_server_side_encryption_configuration.files]
}

# An empty shell: the head node fills it at its first boot, so the munge key is in no file of this tree
# and not in Terraform's state. Nothing to wait for once the cluster is gone: no recovery window.
resource "aws_secretsmanager_secret" "munge" {
  name                    = "${local.name}/munge-key"
  description             = "munge key of cluster ${local.name}, made by its head node"
  kms_key_id              = aws_kms_key.main.arn
  recovery_window_in_days = 0
}
