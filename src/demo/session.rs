//! What one login to the school platform sends through the gateway.

use super::{random::Random, traffic::Counters};
use crate::time::Minute;

/// Production's prefix.
pub(super) const PREFIX: &str = "olp:";
/// The one address of the computer room that the burst comes from.
pub(super) const COMPUTER_ROOM: &str = "203.0.113.7";

/// Where a pupil logs in from otherwise. Every third has IPv6.
pub(super) fn home_address(pupil: u64) -> String {
    if pupil.is_multiple_of(3) {
        format!("2001:db8:0:{pupil:x}::1")
    } else {
        format!("192.0.2.{}", pupil + 1)
    }
}

/// Counts a session of about 20 requests in four minutes.
pub(super) fn count(counters: &mut Counters, random: &mut Random, login: Minute, pupil: u64, address: &str) {
    let school = format!("escola_id:e-{}", if pupil < 51 { 1 } else { 2 });
    let address = format!("ip:{address}");
    let portal = [address.clone(), school.clone()];
    let scopes = [format!("usuario_id:u-{pupil:04}"), address, school];

    if random.percent(50) {
        counters.request(PREFIX, login, "lookup_escola", &portal, random.between(1, 2));
        counters.request(PREFIX, login, "login_aluno_a", &portal, 1);
    }
    if random.percent(5) {
        counters.request(PREFIX, login, "send_otp_responsavel", &portal, 1);
        counters.request(PREFIX, login, "cadastro_responsavel", &portal, 1);
        counters.request(PREFIX, login, "auto_vincular_matricula", &portal, 1);
    }
    counters.request(PREFIX, login, "send-otp", &scopes, 1);
    counters.request(PREFIX, login, "verify-otp", &scopes, 1);
    if random.percent(3) {
        counters.request(PREFIX, login, "set-password", &scopes, 1);
    }
    // One in ten belongs to the staff: the others only look.
    let staff = pupil.is_multiple_of(10);
    for later in 0..4 {
        let minute = login.plus(later);
        let mut ask = |endpoint: &str, most: u64| {
            counters.request(PREFIX, minute, endpoint, &scopes, random.below(most + 1));
        };
        ask("me", 1);
        ask("aluno-dashboard", 3);
        ask("eventos-calendario.get", 1);
        ask("escola-dados.get", 1);
        ask("mural-escola.get", 2);
        ask("tarefas", 4);
        ask("anotacoes", 1);
        if staff {
            ask("gestao-alunos.get", 12);
            ask("gestao-turmas.get", 6);
            ask("controle.batch_update", 1);
        }
    }
    if staff && random.percent(50) {
        counters.request(PREFIX, login.plus(3), "comunicacao-escola", &scopes, 1);
        counters.request(PREFIX, login.plus(3), "mural-escola.post", &scopes, 1);
    }
}
