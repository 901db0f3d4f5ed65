# Tests that each policy accepts valid plans: `conftest verify --policy rules`. ../fixtures/ has the plan that they refuse.
package main

import rego.v1

plan(resource) := {"resource_changes": [resource], "tenon": {"changes": {}, "guards": [], "refusals": []}}

test_a_retired_production_domain_may_go if {
	before := {"tags": ["production", "retired"]}
	resource := {"address": "domain/a.example", "type": "domain", "change": {"actions": ["delete"], "before": before, "after": null}}
	count(deny) == 0 with input as plan(resource)
}

test_a_record_with_the_default_ttl_and_a_public_address_may_come if {
	after := {"type": "A", "target": "192.0.2.1", "ttl_sec": 0}
	resource := {"address": "domain/a.example/www/A", "type": "domain_record", "change": {"actions": ["create"], "before": null, "after": after}}
	count(deny) == 0 with input as plan(resource)
}

test_the_ttl_of_a_domain_counts_too if {
	after := {"domain": "a.example", "ttl_sec": 300}
	resource := {"address": "domain/a.example", "type": "domain", "change": {"actions": ["create"], "before": null, "after": after}}
	deny == {"domain/a.example: a TTL of 300 seconds is below 600"} with input as plan(resource)
}

test_no_address_for_groups_of_hosts_may_come if {
	every target in {"198.19.0.1", "224.0.0.1", "255.255.255.255", "ff02::1"} {
		after := {"type": "A", "target": target, "ttl_sec": 0}
		resource := {"address": "domain/a.example/www/A", "type": "domain_record", "change": {"actions": ["create"], "before": null, "after": after}}
		count(deny) == 1 with input as plan(resource)
	}
}

test_no_ipv4_address_in_the_form_of_ipv6_may_come if {
	after := {"type": "AAAA", "target": "::ffff:192.0.2.1", "ttl_sec": 0}
	resource := {"address": "domain/a.example/www/AAAA", "type": "domain_record", "change": {"actions": ["create"], "before": null, "after": after}}
	deny == {"domain/a.example/www/AAAA: ::ffff:192.0.2.1 is an IPv4 address in the form of IPv6"} with input as plan(resource)
}

test_a_record_that_goes_may_have_been_anything if {
	before := {"type": "A", "target": "10.0.0.1", "ttl_sec": 300}
	resource := {"address": "domain/a.example/www/A", "type": "domain_record", "change": {"actions": ["delete"], "before": before, "after": null}}
	count(deny) == 0 with input as plan(resource)
}

test_what_stays_as_it_is_may_be_anything if {
	values := {"type": "A", "target": "10.0.0.1", "ttl_sec": 300}
	resource := {"address": "domain/a.example/www/A", "type": "domain_record", "change": {"actions": ["no-op"], "before": values, "after": values}}
	count(deny) == 0 with input as plan(resource)
}

# An apply of the plan may do it, once nothing blocks it.
test_what_is_blocked_is_judged_by_what_it_would_do if {
	nothing := {"actions": ["no-op"], "before": null, "after": null}
	wanted := {"actions": ["create"], "before": null, "after": {"type": "A", "target": "10.0.0.1", "ttl_sec": 0}}
	resource := {"address": "domain/a.example/www/A", "type": "domain_record", "change": nothing}
	blocked := {"resource_changes": [resource], "tenon": {"changes": {resource.address: {"wanted": wanted}}, "guards": [], "refusals": []}}
	deny == {"domain/a.example/www/A: 10.0.0.1 is in 10.0.0.0/8, which is not public"} with input as blocked
}

test_a_network_in_an_allowed_region_may_come if {
	after := {"region": "eu-west", "label": "a"}
	resource := {"address": "vpc/a", "type": "vpc", "change": {"actions": ["create"], "before": null, "after": after}}
	count(deny) == 0 with input as plan(resource)
}

test_given_consent_passes if {
	given := {"resource_changes": [], "tenon": {"changes": {}, "refusals": [], "guards": [{"rule": "delete", "address": "vpc/a", "consent": "given"}]}}
	count(deny) == 0 with input as given
}

test_what_is_pending_already_does_not_count if {
	resources := [resource |
		some number in numbers.range(1, 100)
		resource := {"address": sprintf("image/%d", [number]), "type": "image", "change": {"actions": ["delete"], "before": {}, "after": null}}
	]
	changes := {resource.address: {"origin": "already-pending"} | some resource in resources}
	pending := {"resource_changes": resources, "tenon": {"changes": changes, "guards": [], "refusals": []}}
	count(deny) == 0 with input as pending
	mine := json.patch(pending, [{"op": "replace", "path": "/tenon/changes", "value": {}}])
	count(deny) == 1 with input as mine
}
