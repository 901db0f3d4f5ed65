/** Where the rules about mail, certificates and text speak, and where they are silent. */

import { generateKeyPairSync } from "node:crypto";

function rsa(modulusLength: number, type: "spki" | "pkcs1" = "spki"): string {
  return generateKeyPairSync("rsa", { modulusLength }).publicKey.export({ format: "der", type }).toString("base64");
}

const GOOD = rsa(1024);
const WEAK = rsa(512);
const ED25519 = generateKeyPairSync("ed25519").publicKey.export({ format: "der", type: "spki" }).subarray(-32);
const TEN = Array.from({ length: 10 }, (_, index) => `include:s${index}.example.net`).join(" ");

export const TEXT_CASES: Readonly<Record<string, readonly string[]>> = {
  "mx-without-spf": [
    `zone example.com
     ! @ MX 10 mx.example.net.
     @ MX 20 mx2.example.net.
     @ TXT google-site-verification=x
     ! sub MX 10 mx.example.net.
     _dmarc TXT v=DMARC1; p=none`,
    `zone example.com
     @ MX 10 mx.example.net.
     @ TXT v=spf1 -all
     null MX 0 .
     any MX 10 mx.example.net.
     any TXT V=SPF1 mx -all
     zone example.org additive
     @ MX 10 mx.example.net.
     zone example.net ignore=@/TXT
     @ MX 10 mx.example.net.`,
  ],
  "mx-without-dmarc": [
    `zone example.com
     ! @ MX 10 mx.example.net.
     ! sub MX 10 mx.example.net.
     _dmarc TXT not a policy
     zone example.co.uk
     ! @ MX 10 mx.example.net.`,
    `zone example.com
     @ MX 10 mx.example.net.
     sub MX 10 mx.example.net.
     _dmarc TXT v=DMARC1; p=none
     zone mail.example.com
     @ MX 10 mx.example.net.
     zone team.company.example
     @ MX 10 mx.example.net.
     zone example.org
     @ MX 10 mx.example.net.
     _dmarc CNAME _dmarc.example.com.
     zone example.net ignore=_dmarc/TXT
     @ MX 10 mx.example.net.
     zone null.example
     @ MX 0 .`,
  ],
  "multiple-spf": [
    `zone example.com
     @ TXT v=spf1 -all
     ! @ TXT v=spf1 mx -all
     @ TXT v=spf1`,
    `zone example.com
     @ TXT v=spf1 -all
     @ TXT v=spf10 is something else
     sub TXT v=spf1 -all`,
  ],
  "spf-syntax": [
    `zone example.com
     ! a TXT v=spf1 ipv4:192.0.2.1 -all
     ! b TXT v=spf1 ip4:192.0.2.300 -all
     ! c TXT v=spf1 ip4:192.0.2.0/33 -all
     ! d TXT v=spf1 ip6:192.0.2.1 -all
     ! e TXT v=spf1 include: -all
     ! f TXT v=spf1 include:localhost -all
     ! g TXT v=spf1 redirect=a.example.net redirect=b.example.net
     ! h TXT v=spf1; mx -all
     ! i TXT v=spf1include:example.net -all
     ! j TXT v=spf1 exists:%(i).example.net -all
     ! k TXT v=spf1 all:example.net
     ! l TXT v=spf1 a:example.net/99 -all
     ! m TXT v=spf1 mx, -all
     ! n TXT v=spf1 ip4 -all
     ! p TXT v=spf1 ptr:localhost -all
     ! q TXT v=spf1 a//129 -all
     ! r TXT v=spf1 mx/24x -all
     ! s TXT v=spf1 a:localhost -all
     ! t TXT v=spf1 exists -all
     ! o TXT v=spf -all`,
    `zone example.com
     a TXT v=spf1
     b TXT v=spf1 +a mx/24 a:mail.example.net/24//64 mx//64 ?ptr:example.net ~all
     c TXT v=spf1 ip4:192.0.2.0/24 ip6:2001:db8::/32 ip4:192.0.2.1 -all
     d TXT v=spf1 exists:%{ir}.%{v}._spf.%{d2} include:_spf.example.net. exp=explain.%{d} -all
     e TXT v=spf1 redirect=_spf.example.net
     f TXT v=spf1 custom=thing A MX -ALL
     g TXT v=spf1  mx   -all
     h TXT v=spf2.0/pra -all
     i TXT v=spf10 -all`,
  ],
  "spf-lookups": [
    `zone example.com
     ! @ TXT v=spf1 ${TEN} a -all
     ! all TXT v=spf1 include:five.example.com include:five.example.com -all
     five TXT v=spf1 a mx ptr exists:%{i}.example.net include:x.example.net -all
     ! self TXT v=spf1 include:self.example.com -all
     ! ring TXT v=spf1 redirect=ring.example.org
     ! into TXT v=spf1 include:ring.example.com
     zone example.org
     ! ring TXT v=spf1 include:ring.example.com -all`,
    `zone example.com
     @ TXT v=spf1 ${TEN} ip4:192.0.2.1 -all
     two TXT v=spf1 include:four.example.com include:four.example.com -all
     four TXT v=spf1 a mx ptr exists:%{i}.example.net -all
     none TXT v=spf1 redirect=none.example.com -all
     kept TXT v=spf1 include:x.example.org include:x.example.org -all
     zone example.org additive`,
  ],
  "spf-missing-include": [
    `zone example.com
     ! @ TXT v=spf1 include:_spf.example.com -all
     ! two TXT v=spf1 redirect=texts.example.com
     texts TXT hello`,
    `zone example.com
     @ TXT v=spf1 include:_spf.example.net include:there.example.com include:alias.example.com include:%{d}.example.com -all
     there TXT v=spf1 -all
     alias CNAME _spf.example.net.
     more TXT v=spf1 include:_spf.example.org -all
     none TXT v=spf1 redirect=_spf.example.com -all
     zone example.org additive`,
  ],
  "spf-after-all": [
    `zone example.com
     ! @ TXT v=spf1 -all mx
     ! two TXT v=spf1 redirect=example.net ~all`,
    `zone example.com
     @ TXT v=spf1 mx -all
     two TXT v=spf1 -all exp=explain.example.net
     three TXT v=spf1 redirect=example.net`,
  ],
  "spf-allows-all": [
    `zone example.com
     ! @ TXT v=spf1 +all
     ! two TXT v=spf1 mx all`,
    `zone example.com
     @ TXT v=spf1 -all
     two TXT v=spf1 ~all
     three TXT v=spf1 ?all
     four TXT +all`,
  ],
  "spf-ptr": [
    `zone example.com
     ! @ TXT v=spf1 ptr -all
     ! two TXT v=spf1 ptr:example.net -all`,
    `zone example.com
     @ TXT v=spf1 a:ptr.example.net -all
     two TXT ptr`,
  ],
  "multiple-dmarc": [
    `zone example.com
     _dmarc TXT v=DMARC1; p=none
     ! _dmarc TXT v=DMARC1; p=reject`,
    `zone example.com
     _dmarc TXT v=DMARC1; p=none
     _dmarc.sub TXT v=DMARC1; p=none
     example.net._report._dmarc TXT v=DMARC1
     example.org._report._dmarc TXT v=DMARC1`,
  ],
  "dmarc-syntax": [
    `zone example.com
     ! _dmarc TXT v=DMARC1; p=rejct
     ! _dmarc.a TXT p=none; v=DMARC1
     ! _dmarc.b TXT v=DMARC1; ruf=mailto:a@example.com
       _dmarc.reporting TXT v=DMARC1; rua=mailto:a@example.com
     ! _dmarc.c TXT v=DMARC1; p=none; rua=a@example.com
     ! _dmarc.d TXT v=DMARC1; p=none; pct=101
     ! _dmarc.e TXT v=DMARC1 p=none
     ! _dmarc.f TXT v=DMARC1; p=none; p=reject
     ! _dmarc.g TXT hello
     ! _dmarc.h TXT v=DMARC1; p=none; adkim=strict`,
    `zone example.com
     _dmarc TXT v=DMARC1; p=reject; rua=mailto:a@example.com!10m,mailto:b@example.net; ruf=mailto:c@example.com; fo=1:d; adkim=s; aspf=r; pct=100; ri=3600; sp=none; rf=afrf;
     _dmarc.a TXT v=DMARC1;p=none
     _dmarc.b TXT v = DMARC1 ; p = quarantine ; x=unknown
     example.net._report._dmarc TXT v=DMARC1
     dmarc TXT hello`,
  ],
  "dkim-key": [
    `zone example.com
     ! a._domainkey TXT v=DKIM1; k=rsa; p=${GOOD.slice(0, -4)}
     ! b._domainkey TXT v=DKIM1; k=rsa; p=${GOOD.slice(0, -3)}
     ! c._domainkey TXT v=DKIM1; k=rsa
     ! d._domainkey TXT k=rsa; v=DKIM1; p=${GOOD}
     ! e._domainkey TXT v=DKIM2; p=${GOOD}
     ! f._domainkey TXT v=DKIM1; k=ed25519; p=${GOOD}
     ! g._domainkey.sub TXT v=DKIM1; k=rsa; p=${ED25519.toString("base64")}
     ! h._domainkey TXT v=DKIM1; p=<key>
     ! i._domainkey TXT hello`,
    `zone example.com
     a._domainkey TXT v=DKIM1; k=rsa; p=${GOOD}
     b._domainkey TXT p=${GOOD}
     c._domainkey TXT v=DKIM1; p=
     d._domainkey TXT v=DKIM1; k=ed25519; p=${ED25519.toString("base64")}
     e._domainkey TXT v=DKIM1; k=rsa; p=${rsa(1024, "pkcs1")};
     f._domainkey TXT v=DKIM1; h=sha256; t=s; p=${GOOD.slice(0, 50)} ${GOOD.slice(50)}
     g._domainkey TXT v=DKIM1; k=future; p=AAAA
     h._domainkey CNAME h.example.net.
     _domainkey TXT o=~
     domainkey TXT hello`,
  ],
  "dkim-weak-key": [
    `zone example.com
     ! a._domainkey TXT v=DKIM1; k=rsa; p=${WEAK}`,
    `zone example.com
     a._domainkey TXT v=DKIM1; k=rsa; p=${GOOD}
     b._domainkey TXT v=DKIM1; p=
     c TXT v=DKIM1; p=${WEAK}`,
  ],
  "caa-syntax": [
    `zone example.com
     ! a CAA issue let's encrypt
     ! b CAA issue https://letsencrypt.org
     ! c CAA issue "letsencrypt.org"
     ! d CAA iodef security@example.com
     ! e CAA issuewild letsencrypt.org accounturi=x
     ! f CAA issue letsencrypt.org; no parameter`,
    `zone example.com
     a CAA issue letsencrypt.org
     b CAA issue ;
     c CAA issuewild letsencrypt.org; accounturi=https://acme.example/1; validationmethods=dns-01
     d CAA iodef mailto:a@example.com
     e CAA iodef https://example.com/report
     f CAA issue ca.example ; x=
     g CAA issue  digicert.com`,
  ],
  "caa-contradiction": [
    `zone example.com
     ! @ CAA issue ;
     @ CAA issue letsencrypt.org
     @ CAA issuewild ;
     www CAA issuewild digicert.com
     ! www CAA issuewild ; x=y`,
    `zone example.com
     @ CAA issue letsencrypt.org
     @ CAA issue digicert.com
     @ CAA issuewild ;
     @ CAA iodef mailto:a@example.com
     sub CAA issue ;`,
  ],
  "caa-duplicate": [
    `zone example.com
     @ CAA issue letsencrypt.org
     ! @ CAA issue LetsEncrypt.org
     sub CAA issuewild ca.example; a=b
     ! sub CAA issuewild ca.example;a=b`,
    `zone example.com
     @ CAA issue letsencrypt.org
     @ CAA issuewild letsencrypt.org
     @ CAA issue letsencrypt.org; accounturi=https://acme.example/1
     @ CAA issue letsencrypt.org; accounturi=https://acme.example/2
     sub CAA issue letsencrypt.org`,
  ],
  "caa-wildcard-only": [
    `zone example.com
     ! @ CAA issuewild letsencrypt.org
     @ CAA iodef mailto:a@example.com`,
    `zone example.com
     @ CAA issuewild letsencrypt.org
     @ CAA issue letsencrypt.org
     iodef CAA iodef mailto:a@example.com
     zone example.org additive
     @ CAA issuewild letsencrypt.org`,
  ],
  "quoted-txt": [
    `zone example.com
     ! @ TXT "v=spf1 -all"
     ! two TXT "v=DKIM1; p=" "abc"
     ! three TXT “v=spf1 -all”`,
    `zone example.com
     @ TXT he said "hello"
     five TXT “hello” he said
     two TXT "
     three TXT v=spf1 -all
     four CAA issue "x"`,
  ],
  "escaped-txt": [
    `zone example.com
     ! @ TXT v=DMARC1\\; p=none
     ! two TXT say \\"hello\\"
     ! three TXT caf\\195\\169`,
    `zone example.com
     @ TXT C:\\path\\to
     two TXT v=DMARC1; p=none
     three TXT 100\\% sure`,
  ],
};
