variable "file_systems" {
  description = "FSx for Lustre file systems by name, mounted by every machine of the site."
  default     = {}

  type = map(object({
    capacity_gib     = number
    throughput       = number           # MB/s for each TiB
    mount            = string           # folder on the machines
    repository       = optional(string) # bucket that mirrors a folder of the file system
    repository_path  = optional(string, "/checkpoints")
    maintenance_time = optional(string, "7:03:00") # weekday:hour:minute, UTC
  }))

  # FSx for Lustre, PERSISTENT_2 on SSD: sizes and speeds of the service. The provider accepts any size.
  validation {
    condition     = alltrue([for fs in var.file_systems : fs.capacity_gib == 1200 || (fs.capacity_gib > 0 && fs.capacity_gib % 2400 == 0)])
    error_message = "capacity_gib is 1200 or a multiple of 2400."
  }

  validation {
    condition     = alltrue([for fs in var.file_systems : contains([125, 250, 500, 1000], fs.throughput)])
    error_message = "throughput is 125, 250, 500 or 1000 MB/s for each TiB."
  }

  validation {
    condition     = alltrue([for fs in var.file_systems : can(regex("^(/[A-Za-z0-9._-]+)+$", fs.mount)) && can(regex("^(/[A-Za-z0-9._-]+)+$", fs.repository_path))])
    error_message = "mount and repository_path are absolute paths of letters, digits, dots, dashes and underscores."
  }

  validation {
    condition     = length(var.file_systems) == length(distinct([for fs in var.file_systems : fs.mount]))
    error_message = "Two file systems share a mount point."
  }
}

variable "buckets" {
  description = "S3 buckets by name; they keep the checkpoints, and nothing here ever deletes one."
  default     = {}

  type = map(object({
    prefix          = string               # bucket names are the world's: AWS completes ours
    noncurrent_days = optional(number, 30) # how long an overwritten or deleted object can be had back
  }))

  validation {
    condition     = alltrue([for bucket in var.buckets : can(regex("^[a-z0-9][a-z0-9-]{1,36}$", bucket.prefix))])
    error_message = "prefix has 2 to 37 lower-case letters, digits and dashes."
  }

  validation {
    condition     = alltrue([for bucket in var.buckets : bucket.noncurrent_days >= 1])
    error_message = "noncurrent_days is 1 or more."
  }
}
