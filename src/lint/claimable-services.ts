/** Services that give a name to whoever asks first, so that one that was given up is anybody's: each with its source. */

export interface ClaimableService {
  readonly service: string;
  /** The end of such a name, or a pattern where an end alone would say too much. */
  readonly names: readonly (string | RegExp)[];
  /** Who says that names can be claimed. */
  readonly source: string;
}

/** A collection of what was seen to work, kept by many; the number is that of its issue. */
const SEEN = "https://github.com/EdOverflow/can-i-take-over-xyz";
const AZURE = "https://learn.microsoft.com/azure/security/fundamentals/subdomain-takeover";

export const CLAIMABLE_SERVICES: readonly ClaimableService[] = [
  { service: "Agile CRM", names: ["agilecrm.com"], source: `${SEEN}/issues/145` },
  { service: "Amazon S3", names: [/\.s3(-website)?([.-][a-z0-9-]+)?\.amazonaws\.com$/], source: `${SEEN}/issues/36` },
  { service: "Anima", names: ["animaapp.io"], source: `${SEEN}/issues/126` },
  { service: "AWS Elastic Beanstalk", names: ["elasticbeanstalk.com"], source: `${SEEN}/issues/194` },
  { service: "Bitbucket", names: ["bitbucket.io"], source: SEEN },
  { service: "Gemfury", names: ["furyns.com"], source: `${SEEN}/issues/154` },
  { service: "Ghost", names: ["ghost.io"], source: `${SEEN}/issues/89` },
  {
    service: "GitHub Pages",
    names: ["github.io"],
    source: "https://docs.github.com/pages/configuring-a-custom-domain-for-your-github-pages-site",
  },
  { service: "Hatena Blog", names: ["hatenablog.com"], source: SEEN },
  { service: "Helpjuice", names: ["helpjuice.com"], source: SEEN },
  { service: "Help Scout", names: ["helpscoutdocs.com"], source: SEEN },
  { service: "Heroku", names: ["herokuapp.com"], source: `${SEEN}/issues/38` },
  {
    service: "Microsoft Azure",
    names: [
      // One label: names with a hash and a region are given to nobody else.
      /^[a-z0-9-]+\.azurewebsites\.net$/,
      "azure-api.net",
      "azurecontainer.io",
      "azurecr.io",
      "azureedge.net",
      "azurehdinsight.net",
      "blob.core.windows.net",
      "cloudapp.azure.com",
      "cloudapp.net",
      "trafficmanager.net",
    ],
    source: AZURE,
  },
  { service: "Netlify", names: ["netlify.app"], source: `${SEEN}/issues/40` },
  { service: "ngrok", names: ["ngrok.io"], source: `${SEEN}/issues/92` },
  { service: "Pantheon", names: ["pantheonsite.io"], source: `${SEEN}/issues/24` },
  { service: "ReadMe", names: ["readme.io"], source: `${SEEN}/issues/41` },
  { service: "Shopify", names: ["myshopify.com"], source: `${SEEN}/issues/46` },
  { service: "Surge", names: ["surge.sh"], source: SEEN },
  { service: "WordPress", names: ["wordpress.com"], source: `${SEEN}/pull/176` },
  { service: "YouTrack", names: ["youtrack.cloud"], source: SEEN },
];
