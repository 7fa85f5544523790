# Por que um valor é recomendado.
reason-evidence = Ainda sem evidência suficiente: { $covered } de { $required } dias seguidos estão cobertos, e { $active } de { $needed } dias têm tráfego.
reason-evidence-covered = Ainda sem evidência suficiente: { $covered } de { $required } dias seguidos estão cobertos.
reason-evidence-active = Ainda sem evidência suficiente: { $active } de { $needed } dias têm tráfego.
reason-identity = Uma identidade ({ $identity }) chega a { $peak }, mais que o dobro da seguinte, { $next }. Com ela caberiam { $with }, sem ela { $without }: veja o que ela fez antes de decidir.
reason-day = Um dia ({ $day }) chega a { $peak }, mais que o dobro de qualquer outro, { $next }. Com ele caberiam { $with }, sem ele { $without }: veja o que aconteceu antes de decidir.
reason-censored = Só requisições aceitas são contadas, e o limite de { $limit } foi atingido: { $peak } significa "pelo menos { $peak }". Essa evidência não permite mantê-lo nem reduzi-lo.
reason-sampled = As amostras viram { $peak }, e entre elas pode ter havido mais. Isso não permite manter nem reduzir o limite de { $limit }: para decidir, conte por minuto o que chega.
reason-ceiling = Seriam necessários { $needed } para que { $percent } % comportassem o pico projetado de { $projected }, mas não se pode recomendar mais que { $ceiling }.
reason-bounds = As contagens por minuto deixam em aberto quanto coube numa janela: entre { $lower } e { $upper }. Decida com uma medição mais fina.
reason-within-bounds = Mesmo o máximo que as contagens por minuto permitem, { $upper }, fica abaixo do alerta em { $alert }.
reason-tight = O pico projetado de { $projected } passa de { $percent } % de { $limit }. { $value } é o menor valor de dois dígitos que o comporta.
reason-loose = { $value } bastariam: { $percent } % disso comportam o pico projetado de { $projected }, e é no máximo a metade de { $limit }.
reason-fits = { $percent } % de { $limit } comportam o pico projetado de { $projected }. O menor valor que bastaria é { $value }, mais da metade dele.
none = nenhum
