# Records are cached for ten minutes at least. 0 stands for the domain's own default.
package main

import rego.v1

least_ttl_sec := 600

deny contains message if {
	some resource in input.resource_changes
	resource.type == "domain_record"
	written(resource)
	ttl := resource.change.after.ttl_sec
	ttl > 0
	ttl < least_ttl_sec
	message := sprintf("%s: a TTL of %d seconds is below %d", [resource.address, ttl, least_ttl_sec])
}
