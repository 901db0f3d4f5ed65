/** Where the rules about names, targets, TTLs and addresses speak, and where they are silent. */

export const NAME_CASES: Readonly<Record<string, readonly string[]>> = {
  "target-is-address": [
    `zone example.com
     ! @ MX 10 192.0.2.1.
     ! www CNAME 192.0.2.1.
     ! _sip._tcp SRV 1 1 5060 192.0.2.1.
     ! sub NS 192.0.2.1
     sub NS ns.example.net.`,
    `zone example.com
     @ MX 10 192.0.2.300.
     @ MX 10 1.2.3.4.example.net.
     @ MX 10 1.2.3.4
     1.2.3.4 A 192.0.2.1
     @ MX 20 2.3.4.`,
    `zone 2.0.192.in-addr.arpa
     1 PTR 1.2.0.192.example.com.`,
  ],
  "srv-without-protocol": [
    `zone example.com
     ! _sip SRV 1 1 5060 sip.example.net.`,
    `zone example.com
     _sip._tcp SRV 1 1 5060 sip.example.net.
     _sip._tcp.sub SRV 1 1 5060 sip.example.net.`,
  ],
  "repeated-zone": [
    `zone example.com
     ! @ MX 10 mx.example.com.example.com.
     ! www.example.com A 192.0.2.1
     ! a CNAME example.com.example.com.`,
    `zone example.com
     @ MX 10 mx.example.com.
     www.example.community A 192.0.2.1
     a CNAME notexample.com.example.com.
     c TXT www.example.com.example.com`,
    `zone example.com
     zone example.com.example.com
     zone sub.example.com unmanaged
     a CNAME sub.example.com.`,
  ],
  "pointer-to-cname": [
    `zone example.com
     ! @ MX 10 mx
     mx CNAME mx.example.net.
     ! _sip._tcp SRV 1 1 5060 alias.example.org.
     ! sub NS any.wild
     sub NS ns.example.net.
     *.wild CNAME ns.example.net.
     zone example.org
     alias CNAME host
     host A 192.0.2.1`,
    `zone example.com
     @ MX 10 mx
     mx A 192.0.2.1
     www CNAME mx
     web CNAME www
     _sip._tcp SRV 0 0 0 .
     zone example.org additive
     @ MX 10 mx.example.org.`,
  ],
  "missing-target": [
    `zone example.com
     ! @ MX 10 mx
     ! www CNAME nothing
     ! _sip._tcp SRV 1 1 5060 texts
     texts TXT hello
     ! in.addr PTR nobody.example.org.
     ! deep CNAME is
     there.is A 192.0.2.1
     ! under CNAME x.a.wild
     a.wild A 192.0.2.1
     *.wild A 192.0.2.1
     ! @ MX 20 @
     zone example.org`,
    `zone example.com ignore=kept-*/A
     @ MX 10 mx
     mx AAAA 2001:db8::1
     @ MX 20 kept-mx
     @ MX 30 .
     apex CNAME @
     www CNAME b.wild
     *.wild A 192.0.2.1
     out CNAME www.example.net.
     lab NS ns.lab
     ns.lab A 192.0.2.53
     labs CNAME www.lab
     dkim CNAME key
     key TXT v=DKIM1; p=
     more CNAME x.additive.example.
     less CNAME x.unmanaged.example.
     copy CNAME x.slave.example.
     inner CNAME www.sub
     _acme-challenge CNAME challenges
     _acme-challenge.www CNAME _acme-challenge.robot
     zone sub.example.com unmanaged
     zone additive.example additive
     zone unmanaged.example unmanaged
     zone slave.example slave`,
  ],
  "disabled-target": [
    `zone example.com
     ! @ MX 10 mx.example.org.
     ! www CNAME example.org.
     web CNAME www.example.net.
     zone example.org disabled
     mx A 192.0.2.1
     @ A 192.0.2.1
     www CNAME mx`,
    `zone example.com disabled
     @ MX 10 mx.example.org.
     www CNAME web.example.net.
     mail CNAME web
     zone example.org
     mx A 192.0.2.1
     zone example.net disabled
     web A 192.0.2.1`,
  ],
  "cname-loop": [
    `zone example.com
     ! self CNAME self
     ! a CNAME b
     b CNAME c.example.org.
     into CNAME a
     ! * CNAME any
     zone example.org
     c CNAME a.example.com.`,
    `zone example.com
     a CNAME b
     b CNAME c
     c A 192.0.2.1
     * CNAME a
     zone example.org additive
     d CNAME e`,
  ],
  "cname-chain": [
    `zone example.com
     ! a CNAME b
     ! b CNAME c.example.org.
     zone example.org
     c CNAME d
     d A 192.0.2.1`,
    `zone example.com
     a CNAME b
     b A 192.0.2.1
     c CNAME d.example.net.
     loop CNAME pool
     pool CNAME loop`,
  ],
  "mixed-ttl": [
    `zone example.com ttl=300
     www 300 A 192.0.2.1
     ! www 600 A 192.0.2.2
     www 600 A 192.0.2.3
     other TXT a
     ! other 3600 TXT b`,
    `zone example.com
     www 86400 A 192.0.2.1
     www A 192.0.2.2
     www 300 AAAA 2001:db8::1
     mail 300 A 192.0.2.1
     zone example.org ttl=7200
     www 7200 A 192.0.2.1
     www A 192.0.2.2`,
  ],
  "mixed-case": [
    `zone example.com
     www A 192.0.2.1
     ! WWW A 192.0.2.2
     Mail A 192.0.2.1
     ! mail AAAA 2001:db8::1`,
    `zone example.com
     www A 192.0.2.1
     www A 192.0.2.2
     WWW2 A 192.0.2.3
     Same A 192.0.2.4
     Same A 192.0.2.5`,
  ],
  "lookalike-name": [
    `zone example.com
     ! xn--pypal-4ve A 192.0.2.1
     ! deep.xn--pypal-4ve A 192.0.2.1
     ! xn--aa-blc A 192.0.2.1
     ! login CNAME xn--pypal-4ve.example.net.
     @ MX 10 xn--bcher-kva.example.net.
     ! shop CNAME xn--80ak6aa92e.com.`,
    `zone example.com
     login A 192.0.2.1
     ! 1ogin A 192.0.2.1
     com A 192.0.2.1
     ! corn TXT hello
     ns1 A 192.0.2.1
     ns10 A 192.0.2.1
     www A 192.0.2.1`,
    `zone example.com
     w0rld A 192.0.2.1
     ! vv0rld A 192.0.2.1`,
    `zone xn--bcher-kva.example
     xn--bro-hoa A 192.0.2.1
     xn--80asehdb A 192.0.2.1
     xn--2j5b.xn--9t4b11yi5a TXT hello
     xn--qck5b9a5eml3bze TXT hello
     xn--mgberp4a5d4ar A 192.0.2.1
     1ogin A 192.0.2.1
     corn A 192.0.2.1
     a1 A 192.0.2.1
     A1 AAAA 2001:db8::1
     al2 A 192.0.2.1`,
  ],
  "claimable-target": [
    `zone example.com
     ! a CNAME app.herokuapp.com.
     ! b CNAME us.s3-website-us-east-1.amazonaws.com.
     ! c CNAME us.s3-website.eu-central-1.amazonaws.com.
     ! d CNAME us.s3.amazonaws.com.
     ! e CNAME us.github.io.
     ! f CNAME us.azurewebsites.net.
     ! g CNAME us.westeurope.cloudapp.azure.com.
     ! * CNAME us.trafficmanager.net.`,
    `zone example.com
     a CNAME us-a1b2c3d4.westeurope.azurewebsites.net.
     b CNAME herokuapp.com.
     c CNAME notgithub.io.
     d CNAME d111111abcdef8.cloudfront.net.
     e CNAME us.elb.amazonaws.com.
     f TXT us.github.io
     g CNAME github.io
     h MX 10 us.github.io.`,
  ],
  "private-address": [
    `zone example.com
     ! a A 10.1.2.3
     ! b A 172.31.255.255
     ! c A 192.168.0.1
     ! d A 100.64.0.1
     ! e AAAA fd00::1`,
    `zone example.com
     a A 172.32.0.1
     b A 11.0.0.1
     c A 8.8.8.8
     d AAAA 2606:4700::1111
     e TXT 10.1.2.3
     zone corp.internal
     a A 10.0.0.1
     zone home.arpa
     a A 192.168.0.1`,
  ],
  "reserved-address": [
    `zone example.com
     ! a A 127.0.0.1
     ! b A 0.0.0.0
     ! c A 169.254.1.1
     ! d A 224.0.0.1
     ! e AAAA ::1
     ! f AAAA fe80::1
     ! g AAAA ::ffff:192.0.2.1
     ! h A 240.0.0.1`,
    `zone example.com
     localhost A 127.0.0.1
     localhost AAAA ::1
     a A 192.0.2.1
     b A 10.0.0.1
     c A 1.1.1.1
     d AAAA 2001:4860:4860::8888
     zone dev.test
     a A 127.0.0.1`,
  ],
  "documentation-address": [
    `zone tenon.dev
     ! a A 192.0.2.1
     ! b A 198.51.100.7
     ! c A 203.0.113.255
     ! d AAAA 2001:db8::1
     ! e AAAA 3fff::1`,
    `zone tenon.dev
     a A 192.0.3.1
     b AAAA 2001:db9::1
     zone example.com
     a A 192.0.2.1
     zone a.example
     a A 192.0.2.1
     zone sub.example.net
     a AAAA 2001:db8::1`,
  ],
};
