# Helpers of the policies: what a plan does with a resource, and whether that writes it, or changes it in any way.
package main

import rego.v1

# What is blocked is a no-op, as it will not be done now. But an apply of this plan may do it once nothing blocks it, so what the project wants
# is judged.
intended(resource) := change if {
	change := input.tenon.changes[resource.address].wanted
	change != null
} else := resource.change

written(change) if {
	some action in change.actions
	action in {"create", "update"}
}

changed(change) if not "no-op" in change.actions
