variable "pools" {
  description = "Compute nodes by pool. The node's name is its identity: adding one leaves the others alone."

  type = map(object({
    instance_type   = string
    nodes           = list(string)
    network_cards   = number
    efa_interfaces  = number
    efa_cards       = optional(number) # cards of the type that can carry EFA; null: all of them do
    runs_jobs       = bool             # slurmd; without it Slurm's commands alone
    purchase        = string
    reservation_id  = optional(string)
    placement_group = optional(bool) # null: where machines have EFA and no reservation
  }))

  validation {
    condition     = alltrue([for node in flatten([for pool in var.pools : pool.nodes]) : can(regex("^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$", node))])
    error_message = "A node's name is a lower-case DNS label."
  }

  validation {
    condition     = length(flatten([for pool in var.pools : pool.nodes])) == length(distinct(flatten([for pool in var.pools : pool.nodes])))
    error_message = "A node's name occurs twice."
  }

  # Figures: AWS, "Maximize network bandwidth on Amazon EC2 instances with multiple network cards".
  # The provider accepts any number; the service would refuse it only after the network is paid for.
  validation {
    condition = alltrue([
      for pool in var.pools : contains(
        lookup({
          "p4d.24xlarge"     = ["4 of 4"]
          "p4de.24xlarge"    = ["4 of 4"]
          "p5.4xlarge"       = ["1 of 1"]
          "p5.48xlarge"      = ["32 of 32"]
          "p5e.48xlarge"     = ["32 of 32"]
          "p5en.48xlarge"    = ["16 of 16"]
          "p6-b200.48xlarge" = ["8 of 8"]
          "p6-b300.48xlarge" = ["16 of 17"]
          "trn1.32xlarge"    = ["8 of 8"]
          "trn1n.32xlarge"   = ["16 of 16"]
          "trn2.48xlarge"    = ["16 of 16"]
          "g6e.48xlarge"     = ["4 of 4"]
          "g7e.48xlarge"     = ["4 of 4"]
        }, pool.instance_type, ["${coalesce(pool.efa_cards, pool.efa_interfaces)} of ${pool.network_cards}"]),
        "${coalesce(pool.efa_cards, pool.efa_interfaces)} of ${pool.network_cards}"
      )
    ])
    error_message = "efa_interfaces or network_cards is not what this instance type has (p5.48xlarge: 32 EFA interfaces on 32 network cards; who takes fewer says efa_cards)."
  }

  validation {
    condition     = alltrue([for pool in var.pools : pool.network_cards >= 1 && pool.efa_interfaces >= 0 && pool.efa_interfaces <= coalesce(pool.efa_cards, pool.efa_interfaces) && coalesce(pool.efa_cards, pool.efa_interfaces) <= pool.network_cards])
    error_message = "A machine has one network card or more, and one EFA interface a card at most."
  }

  validation {
    condition     = alltrue([for pool in var.pools : contains(["on-demand", "spot", "capacity-reservation", "capacity-block"], pool.purchase)])
    error_message = "purchase is on-demand, spot, capacity-reservation or capacity-block."
  }

  validation {
    condition     = alltrue([for pool in var.pools : contains(["on-demand", "spot"], pool.purchase) == (pool.reservation_id == null)])
    error_message = "A capacity reservation or block needs its reservation_id; machines on demand or on spot have none."
  }

  validation {
    condition     = alltrue([for pool in var.pools : pool.reservation_id == null || can(regex("^cr-[0-9a-f]{17}$", pool.reservation_id))])
    error_message = "A reservation_id is cr- and 17 hexadecimal digits."
  }

  validation {
    condition     = alltrue([for pool in var.pools : pool.purchase != "capacity-block" || can(regex("^(p4d|p4de|p5|p5e|p5en|p6-b200|p6-b300|trn1|trn2)\\.", pool.instance_type))])
    error_message = "This instance type is not sold in capacity blocks."
  }

  validation {
    condition     = alltrue([for pool in var.pools : pool.purchase != "capacity-block" || pool.placement_group != true])
    error_message = "A capacity block says by itself where its machines stand: no placement_group beside it."
  }
}

variable "heads" {
  type        = map(string)
  default     = {}
  description = "Instance type of each head node: Slurm controller and place to log in. The first one makes the munge key."

  validation {
    condition     = alltrue([for name in keys(var.heads) : can(regex("^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$", name))])
    error_message = "A head node's name is a lower-case DNS label."
  }
}

variable "slurm_version" {
  type        = string
  nullable    = true
  description = "Slurm release that the cluster's files are written for, such as 24.11. A machine with another one does not join. Null: no Slurm."

  validation {
    condition     = var.slurm_version == null || can(regex("^[0-9]{2}\\.[0-9]{2}$", var.slurm_version))
    error_message = "A Slurm release is year.month, such as 24.11."
  }
}
