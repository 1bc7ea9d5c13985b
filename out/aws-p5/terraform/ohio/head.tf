resource "aws_instance" "head" {
  for_each = var.heads

  ami           = coalesce(var.head_ami, var.ami)
  instance_type = each.value
  ebs_optimized = true
  monitoring    = true

  subnet_id              = local.subnet_id
  vpc_security_group_ids = [local.group_id, aws_security_group.head.id]
  iam_instance_profile   = aws_iam_instance_profile.machine["head"].name

  user_data                   = local.user_data
  user_data_replace_on_change = true # a machine reads it once, at its first boot

  metadata_options {
    http_endpoint               = "enabled"
    http_tokens                 = "required"
    http_put_response_hop_limit = 1
    instance_metadata_tags      = "enabled"
  }

  root_block_device {
    volume_type = "gp3"
    volume_size = var.root_volume_gib
    encrypted   = true
    kms_key_id  = aws_kms_key.main.arn
  }

  tags = {
    Name          = each.key
    Role          = "head"
    EfaInterfaces = "0"
  }

  lifecycle {
    precondition {
      condition     = !contains(keys(local.nodes), each.key)
      error_message = "${each.key} is the name of the head node and of a compute node."
    }
  }

  depends_on = [terraform_data.ready]
}
