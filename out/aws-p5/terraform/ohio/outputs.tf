output "head" {
  description = "Instance of the head node; log in with: aws ssm start-session --target <id>"
  value       = { for name, machine in aws_instance.head : name => machine.id }
}

output "nodes" {
  description = "Private address of each compute node."
  value       = { for name, machine in aws_instance.node : name => machine.private_ip }
}

output "buckets" {
  description = "S3 bucket of each storage."
  value       = { for name, bucket in aws_s3_bucket.data : name => bucket.bucket }
}

output "mounts" {
  description = "What the machines mount, and where."
  value = {
    for name, fs in aws_fsx_lustre_file_system.data :
    var.file_systems[name].mount => "${fs.dns_name}@tcp:/${fs.mount_name}"
  }
}
