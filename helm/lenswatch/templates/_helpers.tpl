{{- define "lenswatch.name" -}}
{{- .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* Short enough for what is put behind it, such as -notify or -redis-0. */}}
{{- define "lenswatch.fullname" -}}
{{- $name := ternary .Release.Name (printf "%s-%s" .Release.Name .Chart.Name) (contains .Chart.Name .Release.Name) -}}
{{- $name | trunc 48 | trimSuffix "-" -}}
{{- end -}}

{{- define "lenswatch.selectorLabels" -}}
app.kubernetes.io/name: {{ include "lenswatch.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "lenswatch.labels" -}}
{{ include "lenswatch.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "lenswatch.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{ .Values.serviceAccount.name | default (include "lenswatch.fullname" .) }}
{{- else -}}
{{ .Values.serviceAccount.name | default "default" }}
{{- end -}}
{{- end -}}

{{- define "lenswatch.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "lenswatch.redisName" -}}
{{ include "lenswatch.fullname" . }}-redis
{{- end -}}

{{- define "lenswatch.configMapName" -}}
{{ .Values.existingConfigMap | default (include "lenswatch.fullname" .) }}
{{- end -}}

{{/* Has `password`, and `users.acl` with the same one. */}}
{{- define "lenswatch.redisSecretName" -}}
{{ .Values.redis.existingSecret | default (include "lenswatch.redisName" .) }}
{{- end -}}

{{/* Has `admin-token` and `read-token`, or those of them that the configuration lacks. */}}
{{- define "lenswatch.tokensSecretName" -}}
{{ (.Values.tokens).existingSecret | default (printf "%s-tokens" (include "lenswatch.fullname" .)) }}
{{- end -}}

{{/* The tokens the chart adds to the configuration, as JSON: those it lacks. A ConfigMap of the user's is left alone. */}}
{{- define "lenswatch.tokens" -}}
{{- $http := get .Values.config "http" | default dict -}}
{{- $scopes := list (get $http "allow_anonymous" | default false | ternary "read" "") -}}
{{- range get $http "tokens" | default list -}}
{{- $scopes = concat $scopes (kindIs "string" .scopes | ternary (list .scopes) .scopes) -}}
{{- end -}}
{{- $tokens := list -}}
{{- range ternary (list) (list "admin" "read") (ne .Values.existingConfigMap "") -}}
{{- if not (or (has . $scopes) (hasKey $http (printf "%s_token" .)) (hasKey $http (printf "%s_token_file" .))) -}}
{{- $tokens = append $tokens . -}}
{{- end -}}
{{- end -}}
{{- toJson $tokens -}}
{{- end -}}

{{/* The names of the Secrets to mount, as JSON. */}}
{{- define "lenswatch.secretFiles" -}}
{{- $tokens := ternary (list (include "lenswatch.tokensSecretName" .)) list (ne "[]" (include "lenswatch.tokens" .)) -}}
{{- concat $tokens .Values.secretFiles | uniq | toJson -}}
{{- end -}}

{{/* The configuration with what the chart knows better: where its own Redis is, and its tokens. */}}
{{- define "lenswatch.config" -}}
{{- $config := deepCopy .Values.config -}}
{{- $redis := get $config "redis" | default dict -}}
{{- $given := or (hasKey $redis "url") (hasKey $redis "url_file") (hasKey $redis "sentinels") (hasKey $redis "cluster") -}}
{{- if and (not $given) (not .Values.redis.enabled) -}}
{{- fail "config.redis names no Redis: give its url, its sentinels or a cluster, or set redis.enabled for one of the chart's own" -}}
{{- end -}}
{{- if not $given -}}
{{- $_ := set $redis "url" (printf "redis://:${LENSWATCH_REDIS_PASSWORD}@%s:6379/0" (include "lenswatch.redisName" .)) -}}
{{- end -}}
{{- $http := get $config "http" | default dict -}}
{{- range include "lenswatch.tokens" . | fromJsonArray -}}
{{- $_ := set $http (printf "%s_token_file" .) (printf "/etc/lenswatch-secrets/%s/%s-token" (include "lenswatch.tokensSecretName" $) .) -}}
{{- end -}}
{{- $_ := set $config "redis" $redis -}}
{{- $_ := set $config "http" $http -}}
{{- toYaml $config -}}
{{- end -}}

{{/* The TCP ports of what the configuration and the environment name, beside networkPolicy.egressPorts, as JSON. */}}
{{- define "lenswatch.egressPorts" -}}
{{- $ports := .Values.networkPolicy.egressPorts -}}
{{- $named := pick .Values.config "service" "redis" "receivers" -}}
{{- $urls := regexFindAll "(https?|wss?|rediss?)://[^/?#\\s\"']+" (printf "%s\n%s" (toYaml $named) (toYaml .Values.env)) -1 -}}
{{- range $urls -}}
{{- $scheme := regexFind "^[a-z]+" . -}}
{{- $usual := ternary 80 443 (has $scheme (list "http" "ws")) -}}
{{- $usual = ternary 6379 $usual (hasPrefix "redis" $scheme) -}}
{{- $ports = append $ports (regexFind "[0-9]+$" (regexFind ":[0-9]+$" .) | default $usual | int) -}}
{{- end -}}
{{- $redis := get .Values.config "redis" | default dict -}}
{{- range concat (get $redis "sentinels" | default list) (get $redis "cluster" | default list) -}}
{{- $ports = append $ports (splitList ":" . | last | int) -}}
{{- end -}}
{{- with get .Values.config "smtp" -}}
{{- $ports = append $ports (get . "port" | default 587 | int) -}}
{{- end -}}
{{- $numbers := list -}}
{{- range $ports -}}
{{- $numbers = append $numbers (int .) -}}
{{- end -}}
{{- without $numbers 0 | uniq | toJson -}}
{{- end -}}

{{/* Where the configuration says to listen; the image says 9595 where it does not. */}}
{{- define "lenswatch.port" -}}
{{- $http := get .Values.config "http" | default dict -}}
{{- get $http "listen" | default "0.0.0.0:9595" | toString | splitList ":" | last -}}
{{- end -}}

{{/* Of the pod of `helm test`: no Service and no NetworkPolicy of lenswatch selects it. */}}
{{- define "lenswatch.testSelectorLabels" -}}
app.kubernetes.io/name: {{ include "lenswatch.name" . }}-test
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* The port of metrics and probes, where they have one of their own; else "". */}}
{{- define "lenswatch.metricsPort" -}}
{{- $http := get .Values.config "http" | default dict -}}
{{- get $http "metrics_listen" | default "" | toString | splitList ":" | last -}}
{{- end -}}

{{- define "lenswatch.metricsPortName" -}}
{{- ternary "metrics" "http" (ne (include "lenswatch.metricsPort" .) "") -}}
{{- end -}}

{{- define "lenswatch.scheme" -}}
{{- (.Values.tls).enabled | default false | ternary "https" "http" -}}
{{- end -}}

{{- define "lenswatch.redisSelectorLabels" -}}
app.kubernetes.io/name: {{ include "lenswatch.name" . }}-redis
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "lenswatch.redisLabels" -}}
{{ include "lenswatch.redisSelectorLabels" . }}
app.kubernetes.io/component: redis
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* Of the chart's Redis: its Secret has the one user it knows. */}}
{{- define "lenswatch.redisConf" -}}
# The notification log must survive a restart: every write goes to an append-only file, and nothing is evicted.
dir /data
appendonly yes
appendfsync everysec
save ""
maxmemory {{ .Values.redis.maxMemory }}
maxmemory-policy noeviction
aclfile /etc/redis-auth/users.acl
{{- end -}}
