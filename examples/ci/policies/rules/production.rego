# Refuses to delete a domain with the tag `production` unless it already has the tag `retired`: two pull requests, two reviews.
package main

import rego.v1

deny contains message if {
	some resource in input.resource_changes
	resource.type == "domain"
	change := intended(resource)
	"delete" in change.actions
	"production" in change.before.tags
	not "retired" in change.before.tags
	message := sprintf("%s is a production domain: give it the tag `retired` first", [resource.address])
}
