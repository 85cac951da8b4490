package infer

import "strings"

// keyForm is what a key implies about its value.
type keyForm uint8

const (
	noForm   keyForm = iota
	nameForm         // secretName: a text is a name
	refForm          // secretRef: an object with a name, or a text that is one
	itself           // secret, storageClass, existingClaim: either
)

// formOf splits a key into its form and its stem, in lower case without signs. A plural is a list.
func formOf(key string) (keyForm, string) {
	n := len(key)
	if n < 3 || n > 64 {
		return noForm, ""
	}
	switch key[n-1] {
	case 'e', 's', 'f', 't', 'p', 'm', 'c', 'C':
	default:
		return noForm, ""
	}
	if strings.ContainsAny(key, "./") {
		return noForm, "" // a property of a program
	}
	one := strings.TrimSuffix(key, "s")
	if class := strings.HasSuffix(key, "lass"); class {
		one = key
	}
	for _, end := range [...]struct {
		text string
		form keyForm
	}{{"Name", nameForm}, {"_name", nameForm}, {"-name", nameForm}, {"ObjectReference", refForm}, {"ObjectRef", refForm}, {"Reference", refForm}, {"Ref", refForm}, {"_ref", refForm}} {
		if stem, ok := strings.CutSuffix(one, end.text); ok && stem != "" {
			return end.form, plain(stem)
		}
	}
	for _, end := range [...]string{"secret", "configmap", "class", "serviceaccount", "claim", "pvc"} {
		if n := len(one) - len(end); n >= 0 && strings.EqualFold(one[n:], end) {
			return itself, plain(one)
		}
	}
	return noForm, ""
}

// plain returns a stem in lower case and without signs.
func plain(stem string) string {
	small := true
	for i := range len(stem) {
		if c := stem[i]; c < 'a' || c > 'z' {
			small = false
			break
		}
	}
	if small {
		return stem
	}
	var buf [64]byte
	out := buf[:0]
	for i := range len(stem) {
		switch c := stem[i]; {
		case c >= 'A' && c <= 'Z':
			out = append(out, c+'a'-'A')
		case c == '_' || c == '-' || c == '.':
		default:
			out = append(out, c)
		}
	}
	return string(out)
}

// bareText reports whether a text under a key that equals the stem may be a name. A field secret
// may also contain the secret: the value counts only if it cannot be the secret itself.
func bareText(stem string) bool {
	for _, end := range [...]string{"storageclass", "priorityclass", "runtimeclass", "ingressclass", "serviceaccount", "configmap", "pvc", "existingclaim", "persistentvolumeclaim"} {
		if strings.HasSuffix(stem, end) {
			return true
		}
	}
	before, ok := strings.CutSuffix(stem, "secret")
	if !ok {
		return false
	}
	for _, end := range [...]string{"existing", "tls", "cert", "certificate", "ca", "credentials", "credential", "pull", "config", "superuser", "auth", "admin", "bind", "keystore", "truststore", "license", "kubeconfig"} {
		if strings.HasSuffix(before, end) {
			return true
		}
	}
	return false
}

// skipped reports fields that hold no references, whatever their keys: what is written to other
// objects, what selects them, their content.
func skipped(key string) bool {
	switch key {
	case "metadata", "labels", "annotations", "matchLabels", "matchExpressions", "selector", "affinity", "tolerations", "topologySpreadConstraints",
		"data", "stringData", "binaryData", "encryptedData", "managedFields", "openAPIV3Schema", "headers", "httpHeaders", "requestHeaders", "attributes", "match", "matches", "exclude", "ownerReferences", "securityContext", "livenessProbe", "readinessProbe", "startupProbe",
		"secretObjects": // created by a secrets driver

		return true
	}
	return strings.HasSuffix(key, "Labels") || strings.HasSuffix(key, "Annotations") || strings.HasSuffix(key, "Selector") && !strings.HasSuffix(key, "KeySelector")
}

// outward reports parts of an object with the addresses at which it is reached, or what it only
// scrapes.
func outward(key string) bool {
	switch key {
	case "ingress", "ingresses", "route", "routes", "httpRoute", "httproute", "virtualHost", "virtualHosts", "virtualhost", "virtualService", "expose", "exposure", "exposed", "cors", "corsPolicy", "listener", "listeners", "dnsNames", "certificate", "certificates", "egress", "image", "images", "controlPlaneEndpoint",
		"receivers", "scrape_configs", "scrapeConfigs", "static_configs", "staticConfigs":
		return true
	}
	return strings.HasSuffix(key, "Ingress")
}

// cloud reports parts of an object about storage outside of the cluster, whose classes are no
// StorageClasses.
func cloud(key string) bool {
	for _, word := range [...]string{"s3", "S3", "gcs", "GCS", "azure", "bucket", "Bucket", "objectStor", "ObjectStor", "barmanObjectStore", "backup"} {
		if strings.Contains(key, word) {
			return true
		}
	}
	return false
}

// mayBeHost excludes most texts before their keys are read: sentences, words with capitals,
// numbers. A URL has its marks.
func mayBeHost(s string) bool {
	letters := false
	for i := range len(s) {
		switch c := s[i]; {
		case c == ' ', c == '\n':
			return false
		case c >= 'A' && c <= 'Z':
			return strings.Contains(s, "://")
		case c >= 'a' && c <= 'z':
			letters = true
		}
	}
	return letters
}

// validName reports whether a server would accept the name of an object: a DNS subdomain.
func validName(s string) bool {
	if s == "" || len(s) > 253 || !alphanumeric(s[0]) || !alphanumeric(s[len(s)-1]) {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if alphanumeric(c) || c == '-' {
			continue
		}
		if c != '.' || !alphanumeric(s[i-1]) || !alphanumeric(s[i+1]) {
			return false
		}
	}
	return true
}

// validLabel reports whether s may name a namespace or a Service.
func validLabel(s string) bool { return len(s) <= 63 && strings.IndexByte(s, '.') < 0 && validName(s) }

func alphanumeric(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }
