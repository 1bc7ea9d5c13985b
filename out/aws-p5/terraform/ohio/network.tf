# The network, unless the account has one for the site: then its routes and gateways are its owner's.

resource "aws_vpc" "main" {
  count = var.existing_network == null ? 1 : 0

  cidr_block           = var.vpc_cidr
  enable_dns_support   = true
  enable_dns_hostnames = true # the private zone is answered only with both

  tags = { Name = local.name }
}

# Nothing uses the default group: without rules it cannot be used by mistake.
resource "aws_default_security_group" "unused" {
  count = var.existing_network == null ? 1 : 0

  vpc_id = aws_vpc.main[0].id
}

resource "aws_subnet" "private" {
  count = var.existing_network == null ? 1 : 0

  vpc_id            = aws_vpc.main[0].id
  availability_zone = var.zone
  cidr_block        = var.private_cidr

  tags = { Name = "${local.name}-private" }
}

resource "aws_subnet" "public" {
  count = var.existing_network == null ? 1 : 0

  vpc_id            = aws_vpc.main[0].id
  availability_zone = var.zone
  cidr_block        = var.public_cidr

  tags = { Name = "${local.name}-public" }
}

resource "aws_internet_gateway" "main" {
  count = var.existing_network == null ? 1 : 0

  vpc_id = aws_vpc.main[0].id

  tags = { Name = local.name }
}

resource "aws_eip" "nat" {
  count = var.existing_network == null ? 1 : 0

  domain = "vpc"

  tags = { Name = "${local.name}-nat" }

  depends_on = [aws_internet_gateway.main]
}

resource "aws_nat_gateway" "main" {
  count = var.existing_network == null ? 1 : 0

  allocation_id = aws_eip.nat[0].id
  subnet_id     = aws_subnet.public[0].id

  tags = { Name = local.name }
}

resource "aws_route_table" "public" {
  count = var.existing_network == null ? 1 : 0

  vpc_id = aws_vpc.main[0].id

  tags = { Name = "${local.name}-public" }
}

resource "aws_route" "internet" {
  count = var.existing_network == null ? 1 : 0

  route_table_id         = aws_route_table.public[0].id
  destination_cidr_block = "0.0.0.0/0"
  gateway_id             = aws_internet_gateway.main[0].id
}

resource "aws_route_table_association" "public" {
  count = var.existing_network == null ? 1 : 0

  subnet_id      = aws_subnet.public[0].id
  route_table_id = aws_route_table.public[0].id
}

resource "aws_route_table" "private" {
  count = var.existing_network == null ? 1 : 0

  vpc_id = aws_vpc.main[0].id

  tags = { Name = "${local.name}-private" }
}

resource "aws_route" "nat" {
  count = var.existing_network == null ? 1 : 0

  route_table_id         = aws_route_table.private[0].id
  destination_cidr_block = "0.0.0.0/0"
  nat_gateway_id         = aws_nat_gateway.main[0].id
}

resource "aws_route_table_association" "private" {
  count = var.existing_network == null ? 1 : 0

  subnet_id      = aws_subnet.private[0].id
  route_table_id = aws_route_table.private[0].id
}

# Checkpoints and boot files go to S3 beside the NAT gateway, which is paid by the byte.
resource "aws_vpc_endpoint" "s3" {
  count = var.existing_network == null ? 1 : 0

  vpc_id            = aws_vpc.main[0].id
  service_name      = "com.amazonaws.${var.region}.s3"
  vpc_endpoint_type = "Gateway"
  route_table_ids   = [aws_route_table.private[0].id]

  tags = { Name = "${local.name}-s3" }
}
