# Filled by terraform.tfvars.json, except the images: they are the operator's.

variable "cluster" {
  type        = string
  description = "Name of the cluster."

  validation {
    condition     = can(regex("^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$", var.cluster))
    error_message = "A cluster name is a lower-case DNS label."
  }
}

variable "site" {
  type        = string
  description = "Name of the site: this root builds the part of the cluster that lies there."

  validation {
    condition     = can(regex("^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$", var.site))
    error_message = "A site name is a lower-case DNS label."
  }
}

variable "purpose" {
  type        = string
  default     = ""
  description = "What the cluster is for, in a line; a tag of everything, without the characters that a tag cannot have."
}

variable "domain" {
  type        = string
  description = "Private DNS zone and search domain; gpu0001 becomes gpu0001.<domain>."

  validation {
    condition     = can(regex("^[a-z0-9-]+(\\.[a-z0-9-]+)+$", var.domain))
    error_message = "The domain is at least two lower-case DNS labels."
  }
}

variable "region" {
  type        = string
  description = "AWS region."
}

variable "zone" {
  type        = string
  description = "The one availability zone of all machines: a placement group and a capacity block never span zones."
}

variable "existing_network" {
  type        = object({ vpc_id = string, subnet_id = string })
  default     = null
  description = "A network of the account to move into, with routes and name resolution of its owner; null makes one."

  validation {
    condition     = var.existing_network == null || (can(regex("^vpc-[0-9a-f]{8,17}$", var.existing_network.vpc_id)) && can(regex("^subnet-[0-9a-f]{8,17}$", var.existing_network.subnet_id)))
    error_message = "Give ids such as vpc-0123456789abcdef0 and subnet-0123456789abcdef0, or null."
  }
}

variable "security_group_id" {
  type        = string
  default     = null
  description = "A group of the account for all machines and file systems, whose rules stay as they are; null makes one."

  validation {
    condition     = var.security_group_id == null || can(regex("^sg-[0-9a-f]{8,17}$", var.security_group_id))
    error_message = "Give an id such as sg-0123456789abcdef0, or null."
  }
}

variable "member_ports" {
  type        = list(object({ from = number, to = number }))
  default     = null
  description = "TCP ports that members of the group open to each other; null lets everything pass among them, as EFA wants. Of a group that exists it says what is open."

  validation {
    condition     = var.member_ports == null || try(alltrue([for ports in var.member_ports : 1 <= ports.from && ports.from <= ports.to && ports.to <= 65535]), false)
    error_message = "Ports are 1 to 65535, the first one not above the last."
  }
}

variable "vpc_cidr" {
  type        = string
  description = "Addresses of the network."

  validation {
    condition     = can(cidrhost(var.vpc_cidr, 0)) && try(tonumber(split("/", var.vpc_cidr)[1]) >= 16 && tonumber(split("/", var.vpc_cidr)[1]) <= 28, false)
    error_message = "A VPC takes an IPv4 range from /16 to /28."
  }
}

variable "private_cidr" {
  type        = string
  description = "Subnet of the nodes, the head and the file systems; inside vpc_cidr."

  validation {
    condition     = can(cidrhost(var.private_cidr, 0)) && try(tonumber(split("/", var.private_cidr)[1]) <= 28, false)
    error_message = "A subnet takes an IPv4 range of /28 or larger."
  }
}

variable "public_cidr" {
  type        = string
  nullable    = true
  description = "Subnet of the NAT gateway; inside vpc_cidr, apart from private_cidr. Null in a network that exists."

  validation {
    condition     = var.public_cidr == null || can(cidrhost(var.public_cidr, 0)) && try(tonumber(split("/", var.public_cidr)[1]) <= 28, false)
    error_message = "A subnet takes an IPv4 range of /28 or larger."
  }
}

variable "ami" {
  type        = string
  description = "Image of the nodes: NVIDIA driver, EFA software and Lustre client of the kernel inside. Slurm, munge and the AWS command line are installed from its package sources when they are missing."

  validation {
    condition     = can(regex("^ami-[0-9a-f]{8,17}$", var.ami))
    error_message = "Give an image id such as ami-0123456789abcdef0."
  }
}

variable "head_ami" {
  type        = string
  default     = null
  description = "Image of the head node; null takes the image of the nodes."

  validation {
    condition     = var.head_ami == null || can(regex("^ami-[0-9a-f]{8,17}$", var.head_ami))
    error_message = "Give an image id such as ami-0123456789abcdef0, or null."
  }
}

variable "admin_cidrs" {
  type        = list(string)
  default     = []
  description = "Networks that may reach the head node by SSH. It has no public address: a peering or a VPN leads there, else Session Manager does."

  validation {
    condition     = alltrue([for cidr in var.admin_cidrs : can(cidrhost(cidr, 0)) && !endswith(cidr, "/0")])
    error_message = "Each entry is a CIDR range, and the whole world is not one."
  }
}

variable "root_volume_gib" {
  type        = number
  default     = 200
  description = "Size of the system disk of every machine, GiB."

  validation {
    condition     = var.root_volume_gib >= 30 && var.root_volume_gib <= 16384 && floor(var.root_volume_gib) == var.root_volume_gib
    error_message = "The system disk has 30 to 16384 GiB, a whole number."
  }
}
