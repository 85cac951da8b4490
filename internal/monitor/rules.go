package monitor

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// rules are the alerts of an app. The series are those of kube-state-metrics, the kubelet,
// cert-manager, regulate watch, and of our own monitors.
func (m *maker) rules(a *monitored, scraped bool) []rule {
	var refs []object.Ref
	for i := range a.workloads {
		refs = append(refs, a.workloads[i].ref)
	}
	t := m.threshold
	deployments, sets, daemons := named(refs, "Deployment"), named(refs, "StatefulSet"), named(refs, "DaemonSet")
	all := []rule{
		{
			"SystemAppUnavailable", "critical", t("unavailableMinutes"),
			either(each(deployments, "deployment", `(kube_deployment_status_replicas_available{$S} == 0 and kube_deployment_spec_replicas{$S} > 0)`),
				each(sets, "statefulset", `(kube_statefulset_status_replicas_ready{$S} == 0 and kube_statefulset_replicas{$S} > 0)`),
				each(daemons, "daemonset", `(kube_daemonset_status_number_available{$S} == 0 and kube_daemonset_status_desired_number_scheduled{$S} > 0)`)),
			"no replica is available",
			"{{ $labels.deployment }}{{ $labels.statefulset }}{{ $labels.daemonset }} in {{ $labels.namespace }} has no available replica.",
		},
		{
			"SystemReplicasMissing", "warning", t("replicasMissingMinutes"),
			either(each(deployments, "deployment", `(kube_deployment_spec_replicas{$S} - kube_deployment_status_replicas_available{$S} > 0)`),
				each(sets, "statefulset", `(kube_statefulset_replicas{$S} - kube_statefulset_status_replicas_ready{$S} > 0)`),
				each(daemons, "daemonset", `(kube_daemonset_status_desired_number_scheduled{$S} - kube_daemonset_status_number_available{$S} > 0)`)),
			"replicas are missing",
			"{{ $labels.deployment }}{{ $labels.statefulset }}{{ $labels.daemonset }} in {{ $labels.namespace }} lacks {{ $value }} replicas.",
		},
	}
	all = append(append(all, m.podRules(a)...), m.regulationRules(a)...)
	jobs := each(named(a.jobs, ""), "job_name", `(kube_job_failed{$S,condition="true"} > 0)`)
	ofCronJobs := each(named(a.cronJobs, ""), "owner_name", `(kube_job_failed{$N,condition="true"} * on (namespace, job_name) group_left (owner_name) kube_job_owner{$S,owner_kind="CronJob"} > 0)`)
	scalers := named(m.autoscalers(a), "")
	certs := named(a.certs, "")
	all = append(all,
		rule{
			"SystemJobFailed", "warning", t("jobFailedMinutes"), either(jobs, ofCronJobs),
			"a Job failed", "Job {{ $labels.job_name }} in {{ $labels.namespace }} failed.",
		},
		rule{
			"SystemClaimFilling", "warning", 15, m.claimsExpr(a),
			"a volume is filling", "The claim {{ $labels.persistentvolumeclaim }} in {{ $labels.namespace }} has {{ $value | humanizePercentage }} left, and would be full in " + number(t("claimFullHours")) + " hours.",
		},
		rule{
			"SystemBackupTooOld", "warning", 15, m.backupsExpr(a),
			"the last backup is too old", "The last good backup{{ with $labels.cronjob }} of the CronJob {{ . }}{{ end }} in {{ $labels.namespace }} is {{ $value | humanizeDuration }} old.",
		},
		rule{
			"SystemAutoscalerAtMaximum", "warning", t("atMaximumMinutes"),
			each(scalers, "horizontalpodautoscaler", `(kube_horizontalpodautoscaler_status_desired_replicas{$S} >= kube_horizontalpodautoscaler_spec_max_replicas{$S})`),
			"an autoscaler is at its maximum", "{{ $labels.horizontalpodautoscaler }} in {{ $labels.namespace }} wants its maximum of {{ $value }} replicas, or more.",
		},
		rule{
			"SystemCertificateExpires", "warning", 15, m.certificatesExpr(certs),
			"a certificate expires", "The certificate {{ $labels.name }} expires in {{ $value | humanizeDuration }}, and was not renewed.",
		},
	)
	if scraped {
		all = append(all, rule{
			"SystemTargetDown", "warning", t("targetDownMinutes"), fmt.Sprintf(`up{%s} == 0`, m.series(a.Name)),
			"a target cannot be scraped", "{{ $labels.pod }} in {{ $labels.namespace }} does not answer the scrapes of {{ $labels.job }}.",
		})
	}
	return slices.DeleteFunc(all, func(r rule) bool { return r.expr == "" })
}

// podRules are the alerts about the containers of an app; none where it has no pods.
func (m *maker) podRules(a *monitored) []rule {
	if len(a.workloads) == 0 {
		return nil
	}
	t := m.threshold
	pods := fmt.Sprintf(` * on (namespace, pod) group_left () %s{%s}`, podsRecord, m.series(a.Name))
	in := map[string]bool{}
	for i := range a.workloads {
		in[regexp.QuoteMeta(a.workloads[i].ref.Namespace)] = true
	}
	namespaces := fmt.Sprintf("namespace=~%q", strings.Join(sortedKeys(in), "|"))
	const about = "Container {{ $labels.container }} of {{ $labels.pod }} in {{ $labels.namespace }} "
	return []rule{
		{
			"SystemContainerRestarts", "warning", 0,
			fmt.Sprintf(`(increase(kube_pod_container_status_restarts_total{%s}[1h])%s > %s) or (max_over_time(kube_pod_container_status_waiting_reason{%s,reason="CrashLoopBackOff"}[5m])%s > 0)`, namespaces, pods, number(t("restartsPerHour")), namespaces, pods),
			"a container restarts again and again", about + "restarts again and again.",
		},
		{
			"SystemCPUThrottled", "warning", 15,
			fmt.Sprintf(`sum by (namespace, pod, container) (increase(container_cpu_cfs_throttled_periods_total{%s,container!=""}[5m])) / sum by (namespace, pod, container) (increase(container_cpu_cfs_periods_total{%s,container!=""}[5m]))%s > %s`, namespaces, namespaces, pods, number(t("throttledPercent")/100)),
			"CPU is throttled", about + "is throttled in {{ $value | humanizePercentage }} of its periods: its CPU limit is too low.",
		},
		{
			"SystemMemoryNearLimit", "warning", 15,
			fmt.Sprintf(`max by (namespace, pod, container) (container_memory_working_set_bytes{%s,container!=""}) / max by (namespace, pod, container) (kube_pod_container_resource_limits{%s,resource="memory"})%s > %s`, namespaces, namespaces, pods, number(t("memoryPercent")/100)),
			"memory is near its limit", about + "uses {{ $value | humanizePercentage }} of its memory limit: above it, it is killed.",
		},
	}
}

// claimsExpr is about the claims of an app that exist, and those that StatefulSets make.
func (m *maker) claimsExpr(a *monitored) string {
	expr := fmt.Sprintf(`(kubelet_volume_stats_available_bytes{$S} / kubelet_volume_stats_capacity_bytes{$S} < %s and predict_linear(kubelet_volume_stats_available_bytes{$S}[6h], %s) <= 0)`,
		number(m.threshold("claimFreePercent")/100), number(m.threshold("claimFullHours")*3600))
	return each(named(a.allClaims(), ""), "persistentvolumeclaim", expr)
}

// backupsExpr is about the backups of which a series says when the last good one was: of CronJobs by
// kube-state-metrics, and of CloudNativePG by the metrics of its pods, in-core or by the plug-in. One that
// never ran counts from when its CronJob was created. VolumeSnapshots have no such series.
func (m *maker) backupsExpr(a *monitored) string {
	limit := number(m.threshold("backupHours") * 3600)
	jobs := each(named(a.backups, ""), "cronjob", `(time() - (kube_cronjob_status_last_successful_time{$S} or kube_cronjob_created{$S}) > `+limit+`)`)
	var databases []string
	for _, o := range a.custom {
		if kindOf(o) == "Cluster.postgresql.cnpg.io" {
			databases = append(databases, fmt.Sprintf(`(time() - (max by (namespace) ({__name__=~"cnpg_collector_last_available_backup_timestamp|barman_cloud_cloudnative_pg_io_last_available_backup_timestamp",namespace=%q,pod=~%q}) > 0) > %s)`,
				o.GetNamespace(), regexp.QuoteMeta(o.GetName())+"-[1-9][0-9]*", limit))
		}
	}
	return either(append(databases, jobs)...)
}

// allClaims are the claims that exist, and those of the replicas that StatefulSets ask for.
func (a *monitored) allClaims() []object.Ref {
	out := slices.Clone(a.claims)
	for i := range a.workloads {
		w := &a.workloads[i]
		for _, name := range w.claims {
			for n := range max(w.replicas, 1) {
				out = append(out, object.Ref{Kind: "PersistentVolumeClaim", Namespace: w.ref.Namespace, Name: fmt.Sprintf("%s-%d", name, n)})
			}
		}
	}
	return out
}

// certificatesExpr finds the certificates of an app whether or not the labels of cert-manager are
// honored. Those that are not due to be renewed yet live shorter than the threshold.
func (m *maker) certificatesExpr(certs map[string][]string) string {
	if len(certs) == 0 {
		return ""
	}
	own := each(certs, "name", `(certmanager_certificate_expiration_timestamp_seconds{$S} unless on (namespace, name) (certmanager_certificate_renewal_timestamp_seconds{$S} > time()))`)
	exported := each(certs, "name", `(certmanager_certificate_expiration_timestamp_seconds{exported_$S} unless on (exported_namespace, name) (certmanager_certificate_renewal_timestamp_seconds{exported_$S} > time()))`)
	return fmt.Sprintf(`(%s) - time() < %s`, either(own, exported), number(m.threshold("certificateHours")*3600))
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
