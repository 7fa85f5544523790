# Em volta de cada página.
skip = Ir para o conteúdo
language = Idioma
environment = Ambiente
sign-out = Sair
period = Período
period-days = { $count ->
    [one] { $number } dia
   *[other] { $number } dias
}
period-other = Outras datas
period-from = De
period-to = até
show = Mostrar
show-all = Mostrar todos os limites
generated = Feito em
to-overview = Para a visão geral

# O que são os limites.
limit = Limite
allowed = { $limit } em { $window }
allowed-none = sem limite, janelas de { $window }
window-seconds = { $number } s
window-minutes = { $number } min
window-hours = { $number } h
window-day = 1 dia
scope-each = para cada { $scope }
scope-shared = para todos os { $scope } juntos
mode-observe = observado
mode-block = aplicado
mode-watch = acompanhado
mode-exempt = isento
group-unlimited = Endpoints sem limite

# Como estão.
status = Situação
status-no-data = sem dados
status-ok = ok
status-near = perto
status-over = acima
status-unmeasurable = não mensurável
status-watch = acompanhado
status-exempt = isento
peak = Pico
peak-unknown = desconhecido
peak-between = { $lower } a { $upper }
peak-at-least = pelo menos { $peak }
peak-up-to = { $peak }, no máximo { $upper }
used = Uso
evidence = Evidência
evidence-days = { $part } de { $whole } dias
evidence-traffic = { $part } de { $whole } dias com tráfego
evidence-enough = { $part } dias
recommended = Recomendação
action-wait = esperar
action-review = revisar
action-raise = subir
action-raise-to = subir para { $value }
action-lower = reduzir
action-lower-to = reduzir para { $value }
action-keep = manter
bar-text = Pico { $peak }, limite { $limit }, alerta em { $alert }
legend-peak = pico
legend-doubt = pode ter sido

# A visão geral.
tally-limits = { $count ->
    [one] { $number } limite
   *[other] { $number } limites
}
tally-over = { $number } acima
tally-near = { $number } perto
tally-loose = { $count ->
    [one] { $number } folgado
   *[other] { $number } folgados
}
tally-unproven = { $number } sem evidência
tally-unknowable = { $count ->
    [one] { $number } desconhecido
   *[other] { $number } desconhecidos
}
tally-over-meaning = mais que o limite foi visto em uma janela
tally-near-meaning = o alerta foi atingido
tally-loose-meaning = metade do limite ou menos bastaria
tally-unproven-meaning = ainda falta evidência para recomendar um valor
tally-unknowable-meaning = sem dados, ou janelas curtas demais para serem vistas
empty-filter = Nenhum limite deste ambiente está assim agora.
empty-data = Nada se sabe deste período: escolha outro, ou veja abaixo o que foi lido e deixe folga drain rodar.
empty-environment = Nenhum limite do catálogo vale neste ambiente: dê a um [[group.limit]] um valor ou um modo para ele.
coverage = O que foi lido
coverage-minutes = { $covered } de { $minutes } minutos
coverage-days = { $count ->
    [one] { $number } dia completo seguido
   *[other] { $number } dias completos seguidos
}
gaps = Lacunas: minutos dos quais nada se sabe
gap-minutes = { $number } min
gap-more = e mais { $number }
empty-sources = Nenhuma fonte alimenta este ambiente: inclua-o em environments de um [[source]] e execute folga drain.
bill-run = { $number } comandos do Redis por coleta
bill-day = cerca de { $number } por dia
bill-all = Todas as coletas de todos os ambientes: cerca de { $number } comandos do Redis por dia.
bill-price = Cerca de { $price } por mês pela tarifa.
ignored = Fora de todos os números

# Alertas.
alerts-now = Em alerta agora
alerts-none = Nada está em alerta agora.
alerts-last = Últimos alertas
alert-since = desde
alert-peak = pico { $peak }
alert-silenced-until = silenciado até
alert-pending = aguarda
alert-sent = enviado
alert-replaced = substituído por um mais novo
alert-silenced = silenciado
alert-unsent = apenas registrado
level-ok = ok
level-near = perto
level-over = acima
level-refused = recusas
level-warning = aviso
level-critical = crítico
level-ended = encerrado

# Páginas que não podem ser mostradas.
problem-environment = Esse ambiente não existe
problem-environment-detail = O catálogo não tem o ambiente “{ $name }”. Escolha um destes: { $known }.
problem-limit = Esse limite não existe
problem-limit-detail = Nenhum limite de { $environment } tem o id “{ $name }”. A visão geral lista todos.
problem-group = Esse grupo não existe
problem-group-detail = O catálogo não tem o grupo “{ $name }”. Escolha um destes: { $known }.
problem-address = Não dá para entender este endereço
problem-status-detail = Não existe a situação “{ $name }”. Escolha uma destas: { $known }.
problem-language-detail = Não existe o idioma “{ $name }”. Escolha um destes: { $known }.
problem-busy = O banco de dados não responde
problem-busy-detail = Está ocupado ou fora do ar. Tente de novo em alguns segundos.
problem-internal = Algo falhou
problem-internal-detail = O log do serviço diz o quê.

# A página de um limite.
why = Por quê
projection = Pico projetado
projection-text = { $peak }, entre { $low } e { $high }
method-gev-return-level = o nível que os picos diários passam uma vez em 90 dias, de uma distribuição de valores extremos ajustada; margens de 90 % de confiança
method-observed-margin = o pico observado e mais um quarto: dias de menos ou parecidos demais para uma distribuição
evidence-text = { $covered } dias seguidos lidos por completo (são precisos { $required }), { $active } dias com tráfego (são precisos { $needed })
dominated-with = Com
dominated-without = Sem
dominated-sizing = { $limit }, para um pico projetado de { $peak }
no-recommendation-watch = Nada é limitado aqui. O “e se” abaixo mostra o que um limite teria recusado.
no-recommendation-exempt = Isento: contado, nem limitado nem julgado.
facts = Fatos
fact-endpoints = Endpoints
fact-scope = Contagem
fact-source = Fonte
fact-window = Janela
fact-algorithm = Algoritmo
fact-mode = Modo
fact-alert = Alerta em
fact-total = Requisições
fact-accepted = Aceitas
fact-accepted-peak = Pico das aceitas
fact-percentiles = Janelas com tráfego
fact-history = Contado desde
fact-trend = Tendência
fact-assumed = Suposto pela equipe
percentiles-text = metade tem até { $p50 }, 95 % até { $p95 }, 99 % até { $p99 }, 99,9 % até { $p999 }
window-note-seconds = mais curta que os minutos contados, então só se conhecem limites inferior e superior
window-note-minutes = somada de minutos inteiros
window-note-day = de meia-noite a meia-noite, hora local
algorithm-anchored = ancorado
algorithm-anchored-note = a janela abre na primeira requisição de uma identidade
algorithm-sliding = deslizante
algorithm-sliding-note = a cada requisição contam as da janela anterior a ela
algorithm-fixed = fixo
algorithm-fixed-note = as janelas seguem o relógio
algorithm-sampled = por amostras
algorithm-sampled-note = só se viu o que havia em cada execução
mode-note-observe = contado, nada é recusado
mode-note-block = o que passa dele é recusado
mode-note-watch = contado, nada é limitado
mode-note-exempt = nem limitado nem julgado
alert-note = { $percent } % do limite, arredondado para cima
trend-rising = os picos diários crescem { $change } por semana
trend-falling = os picos diários caem { $change } por semana
trend-steady = os picos diários estão estáveis
partial = O período não terminou: as últimas horas ainda podem crescer.
censored = Só requisições aceitas são contadas e o limite foi atingido; o pico real pode ser maior.
sampled = Só amostras foram vistas; o pico real pode ser maior: pelo menos este valor.
chart = Picos por hora
chart-text = Maior janela de cada hora de { $from } a { $to }: no máximo { $largest }; { $unknown } horas são desconhecidas.
chart-hint = Arraste sobre o gráfico para ampliar, clique duas vezes para voltar. Com o teclado: esquerda e direita movem o cursor, + e − ampliam, 0 mostra tudo.
legend-limit = limite
legend-alert = alerta
legend-gap = desconhecido
legend-ignored = fora dos números
cursor = Hora
upper = no máximo
chart-zero = Uma hora lida e sem tráfego é uma linha no chão; uma hachurada não foi lida.
what-if = E se o limite fosse outro
what-if-limit = Limite
what-if-try = Experimentar
what-if-slide = Mover o limite
what-if-requests = Requisições que teria recusado
what-if-windows = Janelas com recusas
what-if-alert = Alerta em
what-if-exact = Exato: as janelas seguem o relógio.
what-if-estimate = Uma estimativa: janelas que seguem o relógio fazem as vezes das reais; nunca é menos que o que o pico tem acima do limite.
what-if-unknown = As contagens por minuto não mostram janelas tão curtas; nada se pode dizer do que teria sido recusado.
unseen = As contagens por minuto não mostram janelas tão curtas.
what-if-wrong = Escreva um número inteiro a partir de 1.
profile = Quando há movimento
profile-hours = Por hora do dia
profile-weekdays = Por dia da semana
profile-legend = barra: o maior pico por hora; linha: o típico (mediana)
profile-column = { $name }: maior { $largest }, típico { $typical }, de { $hours } horas
profile-column-unknown = { $name }: desconhecido
profile-hour = Hora
profile-largest = Maior
profile-typical = Típico
profile-fits = Limite que serviria
as-table = Como tabela
distribution = Quanto as janelas tiveram
distribution-legend = Janelas fechadas por quanto tiveram. Barras logarítmicas: cada duplicação soma o mesmo comprimento.
distribution-value = Requisições
distribution-windows = Janelas
distribution-over = acima do limite
distribution-empty = Nenhuma janela com tráfego fechou neste período. Escolha um mais longo.
calendar = O que se sabe de cada dia
calendar-week = Semana
calendar-day = { $day }: { $share } lido, { $total } requisições, pico { $peak }
calendar-day-sampled = { $day }: { $share } lido, pico de pelo menos { $peak }
calendar-quiet = { $day }: { $share } lido, sem tráfego
calendar-gap = { $day }: nada lido
calendar-ignored = { $what }; horas fora dos números
calendar-legend-full = lido
calendar-legend-part = em parte
calendar-legend-quiet = lido, sem tráfego
calendar-legend-gap = não lido
top = Maiores picos por identidade
top-identity = Identidade
top-at = Em
top-empty = Nenhuma identidade foi vista neste período.
weekday-0 = seg
weekday-1 = ter
weekday-2 = qua
weekday-3 = qui
weekday-4 = sex
weekday-5 = sáb
weekday-6 = dom

# Entrar.
sign-in = Entrar
sign-in-token = Token da API
sign-in-wrong = Esse não é o token. É o valor de FOLGA_API_TOKEN.
