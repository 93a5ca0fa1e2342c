//! Which addresses may be dialled. The address that is checked is the one that is dialled: names
//! are resolved here, and literal addresses pass through the same check.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

use crate::UpstreamError;

/// Cloud metadata services: reading them is reading the node's credentials. Never dialled.
const METADATA: [IpAddr; 9] = [
    IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254)),
    IpAddr::V4(Ipv4Addr::new(169, 254, 170, 2)),
    IpAddr::V4(Ipv4Addr::new(169, 254, 170, 23)),
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
    IpAddr::V4(Ipv4Addr::new(192, 0, 0, 192)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23)),
    IpAddr::V6(Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)),
];

/// Networks that `allowPrivateEndpoint` opens.
const PRIVATE: [IpNet; 11] = [
    v4(0, 0, 0, 0, 8),
    v4(10, 0, 0, 0, 8),
    v4(100, 64, 0, 0, 10),
    v4(127, 0, 0, 0, 8),
    v4(169, 254, 0, 0, 16),
    v4(172, 16, 0, 0, 12),
    v4(192, 168, 0, 0, 16),
    v4(198, 18, 0, 0, 15),
    v6(0, 127),
    v6(0xfc00, 7),
    v6(0xfe80, 10),
];

const fn v4(a: u8, b: u8, c: u8, d: u8, prefix: u8) -> IpNet {
    IpNet::V4(Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix))
}

const fn v6(first: u16, prefix: u8) -> IpNet {
    IpNet::V6(Ipv6Net::new_assert(Ipv6Addr::new(first, 0, 0, 0, 0, 0, 0, 0), prefix))
}

/// What may be dialled for one server.
#[derive(Debug, Clone, Default)]
pub struct AddressRules {
    pub allow_private: bool,
    /// Never dialled whatever the server says, beside the metadata services: the API server.
    pub blocked: Arc<[IpAddr]>,
}

/// Why an address is not dialled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    #[error("{0} belongs to the platform (metadata service or API server)")]
    Platform(IpAddr),
    #[error("{0} is a private, loopback or link-local address; allowPrivateEndpoint is not set")]
    Private(IpAddr),
    #[error("{0} is no address of a single host")]
    NotAHost(IpAddr),
}

/// The IPv4 address that an IPv6 address stands for: mapped, by NAT64, or by 6to4.
fn behind(address: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = address.to_canonical() else { return address.to_canonical() };
    let v4 = |high: u16, low: u16| {
        IpAddr::V4(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)))
    };
    match v6.segments() {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => v4(high, low),
        _ => address,
    }
}

impl AddressRules {
    /// Whether an address may be dialled.
    pub fn check(&self, address: IpAddr) -> Result<(), AddressError> {
        let address = behind(address);
        if METADATA.contains(&address) || self.blocked.contains(&address) {
            Err(AddressError::Platform(address))
        } else if address.is_multicast() || address == IpAddr::V4(Ipv4Addr::BROADCAST) {
            Err(AddressError::NotAHost(address))
        } else if !self.allow_private && PRIVATE.iter().any(|net| net.contains(&address)) {
            Err(AddressError::Private(address))
        } else {
            Ok(())
        }
    }

    /// The addresses of a host that may be dialled; an error when there are none.
    pub(crate) async fn resolve(
        &self,
        host: &str,
        port: u16,
    ) -> Result<Vec<SocketAddr>, UpstreamError> {
        let found = tokio::net::lookup_host((host, port))
            .await
            .map_err(|_| UpstreamError::Unreachable("its host name is not known".to_owned()))?;
        let mut refused = None;
        let allowed: Vec<SocketAddr> = found
            .filter(|address| self.check(address.ip()).map_err(|why| refused = Some(why)).is_ok())
            .collect();
        match (allowed.is_empty(), refused) {
            (false, _) => Ok(allowed),
            (true, Some(why)) => Err(UpstreamError::AddressRefused(why.to_string())),
            (true, None) => {
                Err(UpstreamError::Unreachable("its host name has no address".to_owned()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(address: &str, public: bool, private: bool) {
        let address = address.parse().unwrap();
        let blocked = Arc::from(["10.96.0.1".parse().unwrap()]);
        for (allow_private, expected) in [(false, public), (true, private)] {
            let rules = AddressRules { allow_private, blocked: Arc::clone(&blocked) };
            assert_eq!(rules.check(address).is_ok(), expected, "{address} {allow_private}");
        }
    }

    #[test]
    fn private_addresses_need_permission_and_platform_addresses_have_none() {
        check("1.1.1.1", true, true);
        check("2606:4700::1111", true, true);
        for private in [
            "127.0.0.1",
            "10.1.2.3",
            "172.31.255.255",
            "192.168.0.1",
            "100.64.0.1",
            "169.254.1.1",
            "0.0.0.0",
            "::1",
            "::",
            "fe80::1",
            "fd12::1",
            "::ffff:10.0.0.1",
            "64:ff9b::10.0.0.1",
            "2002:a00:1::1",
        ] {
            check(private, false, true);
        }
        for platform in
            ["169.254.169.254", "::ffff:169.254.169.254", "fd00:ec2::254", "10.96.0.1", "224.0.0.1"]
        {
            check(platform, false, false);
        }
    }
}
