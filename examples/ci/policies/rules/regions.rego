# Refuses networks outside the regions in which the data may be stored.
package main

import rego.v1

allowed_regions := {"us-east", "eu-west"}

deny contains message if {
	some resource in input.resource_changes
	resource.type == "vpc"
	change := intended(resource)
	written(change)
	region := change.after.region
	not region in allowed_regions
	message := sprintf("%s: the region %s is not among %v", [resource.address, region, allowed_regions])
}
