# Refuses a plan that is too large to review. Changes that were already pending (`tenon plan --base`) do not count.
package main

import rego.v1

most_changes := 5

own_changes contains resource.address if {
	some resource in input.resource_changes
	changed(intended(resource))
	not input.tenon.changes[resource.address].origin == "already-pending"
}

deny contains message if {
	count(own_changes) > most_changes
	message := sprintf("%d changes are more than %d: split the pull request", [count(own_changes), most_changes])
}
