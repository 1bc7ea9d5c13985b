terraform {
  # 1.7: the shipped tests use mock_provider.
  required_version = ">= 1.7"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.100, < 7"
    }
  }
}

provider "aws" {
  region = var.region

  default_tags {
    tags = merge(
      {
        Cluster = var.cluster
        Site    = var.site
      },
      local.purpose == "" ? {} : { Purpose = local.purpose }
    )
  }
}
