package web

import (
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/lazyregexp"
)

// What a manifest shows. Everything else is hidden.

// structural are fields whose values are words: names of things, kinds, choices.
var structural = set(`
name names namespace namespaces generateName kind apiVersion group version versions uid resource resourceVersion type phase reason
image imageID containerID imagePullPolicy restartPolicy dnsPolicy path mountPath subPath subPathExpr fieldPath terminationMessagePath terminationMessagePolicy
protocol appProtocol scheme port ports targetPort containerPort portName pathType
clusterIP clusterIPs ipFamilies ipFamilyPolicy externalIPs loadBalancerIP podIP podIPs hostIP hostIPs ip ips
internalTrafficPolicy externalTrafficPolicy sessionAffinity
host hosts hostname hostnames subdomain dnsNames externalName
storageClassName storageClass accessModes volumeMode volumeName reclaimPolicy persistentVolumeReclaimPolicy provisioner driver fsType medium volumeBindingMode
serviceAccount serviceAccountName priorityClassName runtimeClassName schedulerName nodeName ingressClassName secretName claimName serviceName configMapName
operator effect topologyKey whenUnsatisfiable preemptionPolicy qosClass completionMode concurrencyPolicy podManagementPolicy updateStrategy strategy
apiGroup apiGroups resources resourceNames verbs nonResourceURLs plural singular shortNames listKind scope categories
add drop appArmorProfile seccompProfile readOnly
finalizers controller deletionPolicy cascade status state conditions timeZone unit metricName
chart repository tag digest revision channel mode usages region zone bucket provider class
architecture operatingSystem whenDeleted whenScaled volumeHandle component reportingComponent storedVersions
`)

// ending are suffixes of the names of such fields.
var ending = []string{
	"Ref", "Refs", "Reference", "Name", "Names", "ClassName", "Class", "Kind", "Type", "Types", "Policy", "Mode", "Modes", "Version", "Phase", "Status", "Condition", "IP", "IPs", "Port", "Path", "Strategy", "Revision",
}

// references are fields of references.
var references = set("name namespace kind apiVersion group apiGroup secretName configMapName containerName fieldPath resource uid resourceVersion sectionName")

// labelled are maps of labels.
var labelled = set("matchLabels nodeSelector selector podSelector namespaceSelector")

// matching are lists of keys and values that are matched with those of others.
var matching = set("tolerations taints startupTaints matchExpressions matchFields requirements")

// amounts are fields, and maps, of quantities.
var amounts = set(`
cpu memory storage ephemeral-storage size sizeLimit divisor maxSurge maxUnavailable minAvailable minReadySeconds averageValue targetAverageValue
limits requests capacity allocatable hard used default defaultRequest max min maxLimitRequestRatio allocatedResources podFixed
`)

// contents are fields of which only the names are shown: data of any form.
var contents = set("data stringData binaryData encryptedData immutableData files stringdata")

// environments are fields of environment variables, including the names that charts use.
var environments = set("env envs extraenv extraenvs envvars extraenvvars environment environmentvariables")

// addresses are fields with network addresses.
var addresses = set("address addresses cidr cidrs podCIDR podCIDRs clusterCIDR loadBalancerSourceRanges")

// messages are fields of a status that describe its health.
var messages = set("message reason error errorMessage failureMessage failureReason lastError")

// notes are annotations whose values are shown: those of common controllers and tools.
var notes = set(`
deployment.kubernetes.io/revision deployment.kubernetes.io/desired-replicas deployment.kubernetes.io/max-replicas
kubectl.kubernetes.io/restartedAt kubectl.kubernetes.io/default-container
pv.kubernetes.io/bind-completed pv.kubernetes.io/bound-by-controller pv.kubernetes.io/provisioned-by
volume.kubernetes.io/storage-provisioner volume.beta.kubernetes.io/storage-provisioner volume.beta.kubernetes.io/storage-class volume.kubernetes.io/selected-node
storageclass.kubernetes.io/is-default-class ingressclass.kubernetes.io/is-default-class kubernetes.io/ingress.class
batch.kubernetes.io/cronjob-scheduled-timestamp batch.kubernetes.io/job-tracking cluster-autoscaler.kubernetes.io/safe-to-evict controller.kubernetes.io/pod-deletion-cost
endpoints.kubernetes.io/last-change-trigger-time kubernetes.io/config.source kubernetes.io/config.seen
meta.helm.sh/release-name meta.helm.sh/release-namespace helm.sh/hook helm.sh/resource-policy argocd.argoproj.io/sync-wave
cert-manager.io/issuer-name cert-manager.io/issuer-kind cert-manager.io/issuer-group cert-manager.io/certificate-name cert-manager.io/certificate-revision cert-manager.io/cluster-issuer cert-manager.io/issuer
prometheus.io/scrape prometheus.io/port prometheus.io/scheme
`)

// metadata are the fields of metadata that are shown; labels and annotations are handled
// separately.
var metadata = set("name namespace generateName uid creationTimestamp generation resourceVersion finalizers deletionTimestamp deletionGracePeriodSeconds")

// suspicious are parts of the names of fields with credentials, in lower case without signs.
var suspicious = []string{
	"pass", "pwd", "secret", "token", "credential", "auth", "bearer", "cookie", "apikey", "accesskey", "privatekey", "signingkey", "encryptionkey", "masterkey", "sharedkey", "sshkey", "accountkey",
	"license", "licence", "dsn", "connectionstring", "connstr", "kubeconfig", "signature", "salt",
}

// suspiciousWords are whole names of such fields.
var suspiciousWords = set("pin otp sas seed nonce cred creds key keys")

// harmless are names that look like those, and are not.
var harmless = set("serviceAccountToken automountServiceAccountToken tokenExpirationSeconds authorizationMode")

// credential reports whether a field is named like one with credentials.
func credential(key string) bool {
	if harmless[key] {
		return false
	}
	small := strings.ToLower(strings.NewReplacer("-", "", "_", "", ".", "").Replace(key))
	return suspiciousWords[small] || slices.ContainsFunc(suspicious, func(part string) bool { return strings.Contains(small, part) })
}

// bare are suffixes of the names of fields, in lower case, that refer to a Secret or a ConfigMap by
// name without a suffix for that. A clientSecret is the secret itself.
var bare = []string{"credentialssecret", "credentialsecret", "tlssecret", "certsecret", "casecret", "bundlesecret", "configsecret", "pullsecret", "configmap"}

// pointer reports whether a field is named like a reference.
func pointer(key string) bool {
	if key == "acceptedNames" { // of a definition: more than names
		return false
	}
	small := strings.ToLower(key)
	if strings.HasPrefix(key, "existing") || slices.ContainsFunc(bare, func(end string) bool { return strings.HasSuffix(small, end) }) {
		return true
	}
	for _, end := range []string{"Ref", "Refs", "Reference", "References", "Name", "Names", "KeySelector"} {
		if stem, ok := strings.CutSuffix(key, end); ok {
			stem = strings.ToLower(stem)
			// A login is half of a credential.
			login := strings.HasSuffix(stem, "user") || strings.HasSuffix(stem, "login") || strings.HasSuffix(stem, "account")
			return !login || end != "Name" || key == "serviceAccountName"
		}
	}
	return false
}

// named reports whether the value of a field is a word.
func named(key string) bool {
	if structural[key] {
		return true
	}
	if strings.HasSuffix(key, "Name") {
		return pointer(key)
	}
	return slices.ContainsFunc(ending, func(end string) bool { return strings.HasSuffix(key, end) })
}

// Forms of values. Everything that is shown has one of them, except messages.
var (
	aWord   = lazyregexp.New(`^[\w.:/@+*~-]{1,253}$`)
	aKey    = lazyregexp.New(`^[A-Za-z0-9_*$][\w./*:~-]{0,316}$`)
	aLabel  = lazyregexp.New(`^[\w.-]{0,63}$`)
	aChoice = lazyregexp.New(`^[A-Z][A-Za-z]{1,40}$`)
	amount  = lazyregexp.New(`^[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,2})?([numkKMGTPE]i?|%)?$`)
	aTime   = lazyregexp.New(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$`)
	aSpan   = lazyregexp.New(`^([0-9]{1,6}(\.[0-9]{1,3})?(ns|us|ms|s|m|h|d))+$`)
	aCron   = lazyregexp.New(`^(@[a-z]{4,9}|([0-9*/,?LW#-]{1,40}|[A-Z,-]{3,27})( ([0-9*/,?LW#-]{1,40}|[A-Z,-]{3,27})){4,5})$`)

	// userinfo is the user, and the password, in a URL. A text with only those looks like an image
	// with a digest.
	userinfo = lazyregexp.New(`://[^/\s]*@`)
	both     = lazyregexp.New(`^[^/@\s]*:[^/@\s]*@`)
	digest   = lazyregexp.New(`@sha(256|512):[0-9a-f]{32,}$`)
	// tokens matches known formats of tokens at any place.
	tokens = lazyregexp.New(`-----BEGIN|\beyJ[\w-]{8,}\.|\b(AKIA|ASIA)[A-Z0-9]{12,}|\b(gh[a-z]_|github_pat_|glpat-|xox[a-z]-|sk-|sk_live_|npm_|hvs\.|AIza)[\w-]{8,}`)
)

// lets reports whether a text has the form of a credential.
func lets(text string) bool {
	return tokens.MatchString(text) || userinfo.MatchString(text) || both.MatchString(text) && !digest.MatchString(text)
}

// span reports whether a field is named like one with a duration.
func span(key string) bool {
	small := strings.ToLower(key)
	for _, end := range []string{"duration", "interval", "timeout", "period", "after", "before", "window", "delay", "ttl"} {
		if strings.HasSuffix(small, end) {
			return true
		}
	}
	return false
}

func set(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}
