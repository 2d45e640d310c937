//! The hosts of an address, one by one.
//!
//! The driver tries several hosts in turn, but limits only the time of a TCP connection. A host that
//! hangs accepts that and answers nothing more, so the driver would never get to the next host.

use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, LoadBalanceHosts};

use crate::connections::deadline::WAIT;

/// The settings for each host of an address, in its order. Hosts in random order are left to the
/// driver.
pub(super) fn of(config: &Config) -> Vec<Config> {
    let number = config.get_hosts().len().max(config.get_hostaddrs().len());
    if number < 2 || config.get_load_balance_hosts() == LoadBalanceHosts::Random {
        return vec![config.clone()];
    }
    (0..number).map(|index| only(config, index)).collect()
}

/// The longest that one of several hosts may take until it takes statements: all of them have a turn
/// while a query waits.
pub(super) fn time_for_one(hosts: &[Config]) -> Duration {
    let number = u32::try_from(hosts.len()).unwrap_or(u32::MAX).max(1);
    // a little earlier than the query gives up
    let share = WAIT.saturating_sub(Duration::from_millis(500)) / number;
    let connect = hosts.first().and_then(Config::get_connect_timeout);
    match (number, connect) {
        (1, _) | (_, None) => share,
        (_, Some(connect)) => share.min(*connect),
    }
}

/// The settings for one host: the driver's settings cannot be taken a host.
fn only(all: &Config, index: usize) -> Config {
    let mut one = Config::new();
    match all.get_hosts().get(index) {
        Some(Host::Tcp(name)) => {
            one.host(name);
        }
        Some(Host::Unix(folder)) => {
            one.host_path(folder);
        }
        None => {}
    }
    if let Some(address) = all.get_hostaddrs().get(index) {
        one.hostaddr(*address);
    }
    let ports = all.get_ports();
    if let Some(port) = ports.get(index).or(ports.first()) {
        one.port(*port);
    }
    if let Some(user) = all.get_user() {
        one.user(user);
    }
    if let Some(password) = all.get_password() {
        one.password(password);
    }
    if let Some(name) = all.get_dbname() {
        one.dbname(name);
    }
    if let Some(options) = all.get_options() {
        one.options(options);
    }
    if let Some(name) = all.get_application_name() {
        one.application_name(name);
    }
    if let Some(time) = all.get_connect_timeout() {
        one.connect_timeout(*time);
    }
    if let Some(time) = all.get_tcp_user_timeout() {
        one.tcp_user_timeout(*time);
    }
    if let Some(time) = all.get_keepalives_interval() {
        one.keepalives_interval(time);
    }
    if let Some(number) = all.get_keepalives_retries() {
        one.keepalives_retries(number);
    }
    one.keepalives(all.get_keepalives());
    one.keepalives_idle(all.get_keepalives_idle());
    one.ssl_mode(all.get_ssl_mode());
    one.ssl_negotiation(all.get_ssl_negotiation());
    one.channel_binding(all.get_channel_binding());
    one.target_session_attrs(all.get_target_session_attrs());
    one
}

#[cfg(test)]
mod tests {
    use std::str::FromStr as _;

    use super::*;

    #[test]
    fn each_host_has_all_settings_of_the_address() {
        let rest = "user=u password=p dbname=d options=o application_name=a connect_timeout=3 \
            tcp_user_timeout=4 keepalives=0 keepalives_idle=5 keepalives_interval=6 \
            keepalives_retries=7 sslmode=require channel_binding=disable \
            target_session_attrs=read-write";
        let parse = |hosts: &str| Config::from_str(&format!("{hosts} {rest}")).unwrap();
        let both = parse("host=one,/two hostaddr=10.0.0.1,10.0.0.2 port=1,2");
        assert_eq!(
            of(&both),
            [
                parse("host=one hostaddr=10.0.0.1 port=1"),
                parse("host=/two hostaddr=10.0.0.2 port=2"),
            ]
        );
        let one_port = parse("host=one,two port=1");
        assert_eq!(of(&one_port)[1], parse("host=two port=1"));
        for alone in ["host=one port=1", "host=one,two load_balance_hosts=random"] {
            let alone = parse(alone);
            assert_eq!(of(&alone), [alone]);
        }
    }

    #[test]
    fn all_hosts_have_a_turn_while_a_query_waits() {
        for number in 1_u32..9 {
            let names: Vec<_> = (0..number).map(|number| number.to_string()).collect();
            let config = format!("host={} connect_timeout=60", names.join(","));
            let hosts = of(&Config::from_str(&config).unwrap());
            assert!(time_for_one(&hosts) * number < WAIT);
        }
        let hosts = of(&Config::from_str("host=one,two connect_timeout=1").unwrap());
        assert_eq!(time_for_one(&hosts), Duration::from_secs(1));
    }
}
