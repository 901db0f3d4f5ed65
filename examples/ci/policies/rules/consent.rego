# What `tenon apply` would refuse is not worth a review: consent belongs into the same pull request.
package main

import rego.v1

deny contains message if {
	some guard in input.tenon.guards
	guard.consent != "given"
	message := sprintf("%s: consent for %s is %s", [guard.address, guard.rule, guard.consent])
}

deny contains message if {
	some refusal in input.tenon.refusals
	message := sprintf("refused: %s", [refusal.summary])
}
