# Helpers of the policies: which resources a plan writes, and which it changes in any way.
package main

import rego.v1

written(resource) if {
	some action in resource.change.actions
	action in {"create", "update"}
}

changed(resource) if not "no-op" in resource.change.actions
