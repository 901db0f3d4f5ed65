# Refuses non-public addresses in DNS, and subnets wider than a /16.
package main

import rego.v1

not_public := {
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16",
	"198.18.0.0/15", "224.0.0.0/4", "240.0.0.0/4", "::/128", "::1/128", "fc00::/7", "fe80::/10", "ff00::/8",
}

least_prefix := 16

deny contains message if {
	some resource in input.resource_changes
	resource.type == "domain_record"
	change := intended(resource)
	written(change)
	change.after.type in {"A", "AAAA"}
	some range in not_public
	net.cidr_contains(range, change.after.target)
	message := sprintf("%s: %s is in %s, which is not public", [resource.address, change.after.target, range])
}

# IPv4 addresses in the form of IPv6 reach nobody. OPA takes this range for all of IPv4, so it is asked of AAAA records only.
deny contains message if {
	some resource in input.resource_changes
	resource.type == "domain_record"
	change := intended(resource)
	written(change)
	change.after.type == "AAAA"
	net.cidr_contains("::ffff:0:0/96", change.after.target)
	message := sprintf("%s: %s is an IPv4 address in the form of IPv6", [resource.address, change.after.target])
}

deny contains message if {
	some resource in input.resource_changes
	resource.type == "vpc_subnet"
	change := intended(resource)
	written(change)
	prefix := to_number(split(change.after.ipv4, "/")[1])
	prefix < least_prefix
	message := sprintf("%s: /%d is wider than /%d", [resource.address, prefix, least_prefix])
}
