use std::path::{Path, PathBuf};
use std::str::FromStr as _;

use super::*;

fn server(url: &str) -> PostgresAddress {
    PostgresAddress::parse(url).unwrap()
}

fn refusal(url: &str) -> String {
    PostgresAddress::parse(url).err().unwrap().to_string()
}

#[test]
fn what_tls_needs_is_taken_out_of_the_parameters() {
    let plain = server("postgresql://u:p%40@h:6543/d");
    assert_eq!(plain.ssl_mode, SslMode::Prefer);
    assert_eq!(plain.config.get_password(), Some("p@".as_bytes()));
    assert_eq!(plain.config.get_hosts(), [Host::Tcp("h".to_owned())]);

    let full = server(
        "postgres://u:p?sslmode=x@a:1,b:2/d?sslmode=verify-full&sslrootcert=/r%20t.pem\
         &sslcert=/c.pem&sslkey=/k.pem&target_session_attrs=read-write",
    );
    assert_eq!(full.ssl_mode, SslMode::VerifyFull);
    let files = TlsFiles {
        roots: Some(PathBuf::from("/r t.pem")),
        certificate: Some(PathBuf::from("/c.pem")),
        key: Some(PathBuf::from("/k.pem")),
    };
    assert_eq!(full.tls_files, files);
    let none = server("postgres://h/d?sslcert=&sslkey=&sslrootcert=");
    assert_eq!(none.tls_files, TlsFiles::default());
    assert_eq!(full.config.get_password(), Some("p?sslmode=x".as_bytes()));
    assert_eq!(full.config.get_hosts().len(), 2);
}

#[test]
fn a_password_may_hold_every_character_and_never_becomes_a_host() {
    let passwords = (' '..='~')
        .filter(|c| *c != '%')
        .map(|c| format!("a{c}b{c}{c}c"));
    let more = [
        "p@ss:w/r?#d",
        "a@b?c@d?",
        "a@?=",
        "?=@",
        "@",
        "@@/",
        ":@",
        "a@b/c",
        "50%",
        "ö@",
        "p@[::1]",
    ];
    for password in passwords.chain(more.map(ToOwned::to_owned)) {
        let url = format!("postgres://u:{password}@h:6543/d?application_name=x");
        let read = server(&url);
        assert_eq!(read.config.get_password(), Some(password.as_bytes()));
        assert_eq!(read.config.get_user(), Some("u"), "{url}");
        assert_eq!(read.config.get_hosts(), [Host::Tcp("h".to_owned())]);
        assert_eq!(read.config.get_ports(), [6543]);
        assert_eq!(read.config.get_dbname(), Some("d"));
    }
    // a user name that contains an `@`
    let user = server("postgres://u@h:p@h.example/d");
    assert_eq!(user.config.get_user(), Some("u@h"));
    for ambiguous in [
        "postgres://u:secret@h/d?application_name=a@b",
        "postgres://u:se@cr?x=et@h/d",
        "postgres://h/d?user=u&password=sec@ret",
    ] {
        let words = refusal(ambiguous);
        assert!(words.contains("%40") && !words.contains("ret"), "{words}");
    }
}

#[test]
fn a_socket_is_found_by_its_folder_and_has_no_tls() {
    let socket = |url| {
        let read = server(url);
        assert_eq!(read.ssl_mode, SslMode::Disable, "{url}");
        let [Host::Unix(path)] = read.config.get_hosts() else {
            panic!("{url} is a socket");
        };
        path.clone()
    };
    for url in [
        "postgres:///d?host=/run/postgresql",
        "postgres:///d?host=%2Frun%2Fpostgresql&sslmode=require",
        "postgres://%2Frun%2Fpostgresql/d",
        "postgres://u:p@%2Frun%2Fpostgresql:6543/d",
    ] {
        assert_eq!(socket(url), Path::new("/run/postgresql"), "{url}");
    }
    let here = std::env::current_dir().unwrap();
    assert_eq!(socket("postgres:///d?host=run/pg"), here.join("run/pg"));
    // a folder without the port's socket is read as a host
    let host = server("postgres:///d?host=src&port=1");
    assert_eq!(host.config.get_hosts(), [Host::Tcp("src".to_owned())]);
    assert_eq!(host.ssl_mode, SslMode::Prefer);
    assert!(refusal("postgres:///d").contains("host=/run/postgresql"));
    let mixed = "postgres://h/d?host=/run/postgresql";
    assert!(refusal(mixed).contains("sslmode=disable"));
    server(&format!("{mixed}&sslmode=disable"));
}

#[test]
fn a_refusal_never_repeats_the_address() {
    for url in [
        "postgres://user:secret@host:port/d",
        "postgres://user:secret@host/d?sec%20ret=1",
        "postgres://user:secret@ho%zzst/d?port=x",
        "postgres://user:secret?@host/?sslmode=secret",
    ] {
        let words = refusal(url);
        assert!(!words.contains("sec"), "{words}");
    }
    assert!(refusal("postgres://h/d?sslmode=allow").contains("sslmode"));
    assert!(refusal("postgres://h:x/d").contains("port"));
}

#[test]
fn a_parameter_of_another_client_is_named() {
    for name in [
        "pgbouncer",
        "schema",
        "connection_limit",
        "ssl",
        "gssencmode",
        "supa",
        "uselibpqcompat",
        "sslnegotiation",
    ] {
        for parameter in [format!("{name}=true"), name.to_owned()] {
            let words = refusal(&format!("postgres://h/d?sslmode=require&{parameter}"));
            assert!(words.contains(&format!("parameter {name},")), "{words}");
        }
    }
    let taken =
        server("postgres://h/d?options=endpoint%3Dep-1&channel_binding=require&connect_timeout=9");
    assert_eq!(taken.config.get_options(), Some("endpoint=ep-1"));
}

#[test]
fn each_host_has_all_settings_of_the_address() {
    let rest = "user=u password=p dbname=d options=o application_name=a connect_timeout=3 \
        tcp_user_timeout=4 keepalives=0 keepalives_idle=5 keepalives_interval=6 \
        keepalives_retries=7 sslmode=require channel_binding=disable \
        target_session_attrs=read-write";
    let parse = |hosts: &str| Config::from_str(&format!("{hosts} {rest}")).unwrap();
    let both = parse("host=one,/two hostaddr=10.0.0.1,10.0.0.2 port=1,2");
    assert_eq!(
        hosts_of(&both),
        [
            parse("host=one hostaddr=10.0.0.1 port=1"),
            parse("host=/two hostaddr=10.0.0.2 port=2"),
        ]
    );
    let one_port = parse("host=one,two port=1");
    assert_eq!(hosts_of(&one_port)[1], parse("host=two port=1"));
    for alone in ["host=one port=1", "host=one,two load_balance_hosts=random"] {
        let alone = parse(alone);
        assert_eq!(hosts_of(&alone), [alone]);
    }
}

#[test]
fn all_hosts_have_a_turn_while_a_query_waits() {
    for number in 1_u32..9 {
        let names: Vec<_> = (0..number).map(|number| number.to_string()).collect();
        let config = format!("host={} connect_timeout=60", names.join(","));
        let hosts = hosts_of(&Config::from_str(&config).unwrap());
        assert!(time_for_one(&hosts) * number < WAIT);
    }
    let hosts = hosts_of(&Config::from_str("host=one,two connect_timeout=1").unwrap());
    assert_eq!(time_for_one(&hosts), Duration::from_secs(1));
}
