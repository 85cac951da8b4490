package relation

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// containerRules reads the containers of every pod spec.
func containerRules() []Rule {
	carriers := carriers()
	return carried([]Rule{
		{Name: "pod-env-configmap", From: carriers, Relation: Needs, Via: Spec, To: "ConfigMap", Field: "spec.containers[].env[].valueFrom.configMapKeyRef.name", template: envConfigMaps},
		{Name: "pod-env-secret", From: carriers, Relation: Needs, Via: Spec, To: "Secret", Field: "spec.containers[].env[].valueFrom.secretKeyRef.name", template: envSecrets},
		{Name: "pod-envfrom-configmap", From: carriers, Relation: Needs, Via: Spec, To: "ConfigMap", Field: "spec.containers[].envFrom[].configMapRef.name", template: envFromConfigMaps},
		{Name: "pod-envfrom-secret", From: carriers, Relation: Needs, Via: Spec, To: "Secret", Field: "spec.containers[].envFrom[].secretRef.name", template: envFromSecrets},
		{Name: "pod-env-host", From: carriers, Relation: Needs, Via: Env, To: "Service", Field: "spec.containers[].env[].value", template: envHosts},
		{Name: "pod-arg-host", From: carriers, Relation: Needs, Via: Spec, To: "Service", Field: "spec.containers[].args[]", template: argHosts},
		{Name: "pod-gmsa", From: carriers, Relation: Needs, Via: Spec, To: "GMSACredentialSpec", Field: "spec.securityContext.windowsOptions.gmsaCredentialSpecName", template: podGMSA},
	})
}

// eachContainer visits all containers of the template: init, regular and ephemeral ones.
func (t template) eachContainer(visit func(list string, i int, c *corev1.Container)) {
	if t.container {
		visit("", 0, &t.spec.Containers[0])
		return
	}
	for i := range t.spec.InitContainers {
		visit("initContainers[", i, &t.spec.InitContainers[i])
	}
	for i := range t.spec.Containers {
		visit("containers[", i, &t.spec.Containers[i])
	}
	for i := range t.spec.EphemeralContainers {
		visit("ephemeralContainers[", i, (*corev1.Container)(&t.spec.EphemeralContainers[i].EphemeralContainerCommon))
	}
}

// inList returns the path of an element of a list of a container.
func (t template) inList(list string, i int, inner string, j int, after string) string {
	if list == "" {
		return t.in + strings.TrimPrefix(inner, "].") + strconv.Itoa(j) + after
	}
	return t.in + list + strconv.Itoa(i) + inner + strconv.Itoa(j) + after
}

func envConfigMaps(t template, emit EmitFunc) {
	t.eachContainer(func(list string, i int, c *corev1.Container) {
		for j := range c.Env {
			f := c.Env[j].ValueFrom
			if f == nil || f.ConfigMapKeyRef == nil || f.ConfigMapKeyRef.Name == "" {
				continue
			}
			l := to(configMap, t.namespace, f.ConfigMapKeyRef.Name, t.inList(list, i, "].env[", j, "].valueFrom.configMapKeyRef.name"))
			l.Optional = value(f.ConfigMapKeyRef.Optional)
			emit(l)
		}
	})
}

func envSecrets(t template, emit EmitFunc) {
	t.eachContainer(func(list string, i int, c *corev1.Container) {
		for j := range c.Env {
			f := c.Env[j].ValueFrom
			if f == nil || f.SecretKeyRef == nil || f.SecretKeyRef.Name == "" {
				continue
			}
			l := to(secret, t.namespace, f.SecretKeyRef.Name, t.inList(list, i, "].env[", j, "].valueFrom.secretKeyRef.name"))
			l.Optional = value(f.SecretKeyRef.Optional)
			emit(l)
		}
	})
}

func envFromConfigMaps(t template, emit EmitFunc) {
	t.eachContainer(func(list string, i int, c *corev1.Container) {
		for j := range c.EnvFrom {
			r := c.EnvFrom[j].ConfigMapRef
			if r == nil || r.Name == "" {
				continue
			}
			l := to(configMap, t.namespace, r.Name, t.inList(list, i, "].envFrom[", j, "].configMapRef.name"))
			l.Optional = value(r.Optional)
			emit(l)
		}
	})
}

func envFromSecrets(t template, emit EmitFunc) {
	t.eachContainer(func(list string, i int, c *corev1.Container) {
		for j := range c.EnvFrom {
			r := c.EnvFrom[j].SecretRef
			if r == nil || r.Name == "" {
				continue
			}
			l := to(secret, t.namespace, r.Name, t.inList(list, i, "].envFrom[", j, "].secretRef.name"))
			l.Optional = value(r.Optional)
			emit(l)
		}
	})
}

// podGMSA: the pod may name a credential spec for all of its containers, and each container its
// own.
func podGMSA(t template, emit EmitFunc) {
	const field = "securityContext.windowsOptions.gmsaCredentialSpecName"
	if s := t.spec.SecurityContext; s != nil && s.WindowsOptions != nil && value(s.WindowsOptions.GMSACredentialSpecName) != "" {
		emit(to(gmsaCredentialSpec, "", *s.WindowsOptions.GMSACredentialSpecName, t.in+field))
	}
	t.eachContainer(func(list string, i int, c *corev1.Container) {
		if s := c.SecurityContext; list != "" && s != nil && s.WindowsOptions != nil && value(s.WindowsOptions.GMSACredentialSpecName) != "" {
			emit(to(gmsaCredentialSpec, "", *s.WindowsOptions.GMSACredentialSpecName, t.in+list+strconv.Itoa(i)+"]."+field))
		}
	})
}
