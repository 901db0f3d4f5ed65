# Refuses a TTL below ten minutes. A record's 0 stands for the TTL of its domain; a domain's 0 stands for the default of the service, one day.
package main

import rego.v1

least_ttl_sec := 600

deny contains message if {
	some resource in input.resource_changes
	resource.type in {"domain", "domain_record"}
	change := intended(resource)
	written(change)
	ttl := change.after.ttl_sec
	ttl > 0
	ttl < least_ttl_sec
	message := sprintf("%s: a TTL of %d seconds is below %d", [resource.address, ttl, least_ttl_sec])
}
