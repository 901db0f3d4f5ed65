# Refuses a plan that `tenon apply` would refuse: the consent belongs in the same pull request.
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
