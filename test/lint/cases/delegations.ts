/** Where the rules about delegations speak, and where they are silent. */

export const DELEGATION_CASES: Readonly<Record<string, readonly string[]>> = {
  "missing-glue": [
    `zone example.com
     ! lab NS ns1.lab
     ! lab NS lab
     lab NS ns.example.net.`,
    `zone example.com ignore=kept.lab/A
     lab NS ns1.lab
     lab NS ns2.lab
     lab NS kept.lab
     ns1.lab A 192.0.2.1
     ns2.lab AAAA 2001:db8::1
     @ NS ns1
     dev NS ns1.lab
     sub NS ns.sub
     known NS ns.known
     zone sub.example.com unmanaged
     zone known.example.com
     ns A 192.0.2.1`,
    `zone example.com
     ! known NS ns.known
     known NS ns.example.net.
     zone known.example.com
     other A 192.0.2.1`,
  ],
  "single-ns": [
    `zone example.com
     ! lab NS ns.example.net.
     dev NS ns1.example.net.
     dev NS ns2.example.net.`,
    `zone example.com ignore=other/NS
     @ NS ns.example.net.
     other NS ns.example.net.
     zone example.org additive
     lab NS ns.example.net.`,
  ],
  "occluded-record": [
    `zone example.com
     lab NS ns1.lab
     lab NS ns.example.net.
     ns1.lab A 192.0.2.1
     ! www.lab A 192.0.2.2
     ! lab TXT hello
     ! lab MX 10 mx.example.net.
     ! deep.lab NS ns.example.net.
     ! ns1.lab TXT glue has no text
     ! www.sub A 192.0.2.1
     zone sub.example.com`,
    `zone example.com
     lab NS ns1.dev
     lab NS ns.example.net.
     dev NS ns1.dev
     dev NS ns.example.net.
     ns1.dev A 192.0.2.1
     ns1.dev AAAA 2001:db8::1
     laboratory A 192.0.2.1
     xlab TXT beside
     sub NS ns.sub
     sub NS ns.example.net.
     ns.sub A 192.0.2.1
     @ NS ns
     ns A 192.0.2.1
     www A 192.0.2.1
     zone sub.example.com
     www A 192.0.2.1`,
  ],
  "wildcard-beside-ns": [
    `zone example.com
     lab NS ns.example.net.
     lab NS ns.example.org.
     ! *.lab A 192.0.2.1
     ! *.deep.lab TXT never
     ! *.sub A 192.0.2.1
     zone sub.example.com`,
    `zone example.com
     lab NS ns.example.net.
     lab NS ns.example.org.
     * A 192.0.2.1
     *.dev A 192.0.2.1
     @ NS ns.example.net.`,
  ],
};
