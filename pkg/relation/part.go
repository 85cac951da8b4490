package relation

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// template decodes only the fields of the part that the rules read: an operator may fill in a
// quantity or a probe later. A field of another shape than in a pod is not a pod's, and is skipped.
func (p PodPart) template(namespace string) template {
	t := template{spec: &corev1.PodSpec{}, meta: &metav1.ObjectMeta{}, namespace: namespace, part: true}
	if p.Path != "" {
		t.at = p.Path + "."
	}
	t.in = t.at
	f := fields(p.Fields)
	switch p.Shape {
	case Container:
		t.container = true
		t.spec.Containers = []corev1.Container{f.container()}
		return t
	case PodTemplate:
		t.in += "spec."
		if text := f.child("metadata").child("annotations").text(networksKey); text != "" {
			t.meta.Annotations = map[string]string{networksKey: text}
		}
		f = f.child("spec")
	}
	f.podSpec(t.spec)
	return t
}

// fields are the fields of an object of unknown shape.
type fields map[string]any

func (f fields) text(key string) string { s, _ := f[key].(string); return s }

func (f fields) pointer(key string) *string {
	if s := f.text(key); s != "" {
		return &s
	}
	return nil
}

func (f fields) optional() *bool {
	if b, ok := f["optional"].(bool); ok {
		return &b
	}
	return nil
}

func (f fields) child(key string) fields { m, _ := f[key].(map[string]any); return m }

// list returns the objects of a list. Items that are no objects become empty ones, so that indices
// in paths stay right.
func (f fields) list(key string) []fields {
	list, _ := f[key].([]any)
	if len(list) == 0 {
		return nil
	}
	out := make([]fields, len(list))
	for i := range list {
		m, _ := list[i].(map[string]any)
		out[i] = m
	}
	return out
}

func (f fields) texts(key string) []string {
	list, _ := f[key].([]any)
	if len(list) == 0 {
		return nil
	}
	out := make([]string, len(list))
	for i := range list {
		out[i], _ = list[i].(string)
	}
	return out
}

func (f fields) local() corev1.LocalObjectReference {
	return corev1.LocalObjectReference{Name: f.text("name")}
}

func (f fields) podSpec(into *corev1.PodSpec) {
	into.ServiceAccountName, into.DeprecatedServiceAccount = f.text("serviceAccountName"), f.text("serviceAccount")
	into.PriorityClassName, into.RuntimeClassName = f.text("priorityClassName"), f.pointer("runtimeClassName")
	for _, r := range f.list("imagePullSecrets") {
		into.ImagePullSecrets = append(into.ImagePullSecrets, r.local())
	}
	for _, c := range f.list("resourceClaims") {
		into.ResourceClaims = append(into.ResourceClaims, corev1.PodResourceClaim{ResourceClaimName: c.pointer("resourceClaimName"), ResourceClaimTemplateName: c.pointer("resourceClaimTemplateName")})
	}
	if group := f.child("schedulingGroup").pointer("podGroupName"); group != nil {
		into.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: group}
	}
	if w := f.child("securityContext").windows(); w != nil {
		into.SecurityContext = &corev1.PodSecurityContext{WindowsOptions: w}
	}
	for _, c := range f.list("initContainers") {
		into.InitContainers = append(into.InitContainers, c.container())
	}
	for _, c := range f.list("containers") {
		into.Containers = append(into.Containers, c.container())
	}
	for _, v := range f.list("volumes") {
		into.Volumes = append(into.Volumes, v.volume())
	}
}

func (f fields) windows() *corev1.WindowsSecurityContextOptions {
	if name := f.child("windowsOptions").pointer("gmsaCredentialSpecName"); name != nil {
		return &corev1.WindowsSecurityContextOptions{GMSACredentialSpecName: name}
	}
	return nil
}

func (f fields) container() corev1.Container {
	c := corev1.Container{Command: f.texts("command"), Args: f.texts("args")}
	for _, e := range f.list("env") {
		v := corev1.EnvVar{Name: e.text("name"), Value: e.text("value")}
		if from := e.child("valueFrom"); from != nil {
			v.ValueFrom = &corev1.EnvVarSource{}
			if r := from.child("configMapKeyRef"); r != nil {
				v.ValueFrom.ConfigMapKeyRef = &corev1.ConfigMapKeySelector{LocalObjectReference: r.local(), Optional: r.optional()}
			}
			if r := from.child("secretKeyRef"); r != nil {
				v.ValueFrom.SecretKeyRef = &corev1.SecretKeySelector{LocalObjectReference: r.local(), Optional: r.optional()}
			}
		}
		c.Env = append(c.Env, v)
	}
	for _, e := range f.list("envFrom") {
		var s corev1.EnvFromSource
		if r := e.child("configMapRef"); r != nil {
			s.ConfigMapRef = &corev1.ConfigMapEnvSource{LocalObjectReference: r.local(), Optional: r.optional()}
		}
		if r := e.child("secretRef"); r != nil {
			s.SecretRef = &corev1.SecretEnvSource{LocalObjectReference: r.local(), Optional: r.optional()}
		}
		c.EnvFrom = append(c.EnvFrom, s)
	}
	if w := f.child("securityContext").windows(); w != nil {
		c.SecurityContext = &corev1.SecurityContext{WindowsOptions: w}
	}
	return c
}

func (f fields) volume() (v corev1.Volume) {
	if s := f.child("configMap"); s != nil {
		v.ConfigMap = &corev1.ConfigMapVolumeSource{LocalObjectReference: s.local(), Optional: s.optional()}
	}
	if s := f.child("secret"); s != nil {
		v.Secret = &corev1.SecretVolumeSource{SecretName: s.text("secretName"), Optional: s.optional()}
	}
	if s := f.child("persistentVolumeClaim"); s != nil {
		v.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: s.text("claimName")}
	}
	if s := f.child("projected"); s != nil {
		v.Projected = &corev1.ProjectedVolumeSource{}
		for _, p := range s.list("sources") {
			v.Projected.Sources = append(v.Projected.Sources, p.projection())
		}
	}
	if s := f.child("csi"); s != nil {
		v.CSI = &corev1.CSIVolumeSource{Driver: s.text("driver"), NodePublishSecretRef: s.secretRef("nodePublishSecretRef")}
		if class := s.child("volumeAttributes").text(providerClassKey); class != "" {
			v.CSI.VolumeAttributes = map[string]string{providerClassKey: class}
		}
	}
	f.legacyVolume(&v)
	return v
}

func (f fields) projection() (p corev1.VolumeProjection) {
	if r := f.child("configMap"); r != nil {
		p.ConfigMap = &corev1.ConfigMapProjection{LocalObjectReference: r.local(), Optional: r.optional()}
	}
	if r := f.child("secret"); r != nil {
		p.Secret = &corev1.SecretProjection{LocalObjectReference: r.local(), Optional: r.optional()}
	}
	if r := f.child("clusterTrustBundle"); r != nil {
		p.ClusterTrustBundle = &corev1.ClusterTrustBundleProjection{Name: r.pointer("name"), SignerName: r.pointer("signerName"), LabelSelector: r.labelSelector(), Optional: r.optional()}
	}
	return p
}

func (f fields) labelSelector() *metav1.LabelSelector {
	m := f.child("labelSelector")
	if m == nil {
		return nil
	}
	s := &metav1.LabelSelector{}
	for key := range m.child("matchLabels") {
		metav1.AddLabelToSelector(s, key, m.child("matchLabels").text(key))
	}
	for _, e := range m.list("matchExpressions") {
		s.MatchExpressions = append(s.MatchExpressions, metav1.LabelSelectorRequirement{
			Key: e.text("key"), Operator: metav1.LabelSelectorOperator(e.text("operator")), Values: e.texts("values"),
		})
	}
	return s
}

// legacyVolume reads what volumeLegacySecret reads.
func (f fields) legacyVolume(v *corev1.Volume) {
	if s := f.child("azureFile"); s != nil {
		v.AzureFile = &corev1.AzureFileVolumeSource{SecretName: s.text("secretName")}
	}
	if s := f.child("cephfs"); s != nil {
		v.CephFS = &corev1.CephFSVolumeSource{SecretRef: s.secretRef("secretRef")}
	}
	if s := f.child("cinder"); s != nil {
		v.Cinder = &corev1.CinderVolumeSource{SecretRef: s.secretRef("secretRef")}
	}
	if s := f.child("flexVolume"); s != nil {
		v.FlexVolume = &corev1.FlexVolumeSource{SecretRef: s.secretRef("secretRef")}
	}
	if s := f.child("iscsi"); s != nil {
		v.ISCSI = &corev1.ISCSIVolumeSource{SecretRef: s.secretRef("secretRef")}
	}
	if s := f.child("rbd"); s != nil {
		v.RBD = &corev1.RBDVolumeSource{SecretRef: s.secretRef("secretRef")}
	}
	if s := f.child("scaleIO"); s != nil {
		v.ScaleIO = &corev1.ScaleIOVolumeSource{SecretRef: s.secretRef("secretRef")}
	}
	if s := f.child("storageos"); s != nil {
		v.StorageOS = &corev1.StorageOSVolumeSource{SecretRef: s.secretRef("secretRef")}
	}
}

func (f fields) secretRef(key string) *corev1.LocalObjectReference {
	if name := f.child(key).text("name"); name != "" {
		return &corev1.LocalObjectReference{Name: name}
	}
	return nil
}
