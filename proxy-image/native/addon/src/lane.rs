//! A lane as JavaScript sees it.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::IntoRawFd;
use std::sync::Arc;

use napi::Result;
use napi::bindgen_prelude::Float64Array;
use napi_derive::napi;
use splice_plane::{GuestEnded, Handed, Plane, Shut};

/// One listening port whose clients the plane takes. Made by `SplicePlane.listen`.
#[napi]
pub struct SpliceLane {
    plane: Arc<Plane>,
    id: u32,
}

#[napi]
impl SpliceLane {
    pub(crate) fn new(plane: Arc<Plane>, id: u32) -> SpliceLane {
        SpliceLane { plane, id }
    }

    /// What `news` calls it.
    #[napi(getter)]
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Opens it until it is shut, at most for so long: who comes is connected to the address, so many at once, and
    /// spliced at its first byte. It shuts by itself with every client that is handed over. False for what is no
    /// address.
    #[napi]
    pub fn open(&self, address: String, port: u16, for_ms: f64, dials: u32) -> bool {
        let Ok(address) = address.parse::<IpAddr>() else { return false };
        self.plane.open_lane(self.id, SocketAddr::new(address, port), for_ms as u64, dials);
        true
    }

    /// Shuts it and brings what has happened since it was last shut, as numbers in a row: clients on their way,
    /// clients spliced, clients that were spliced since, the error in accepting (0 for none), and how many are handed
    /// over; for each of these: its descriptor, that of its connection to the target (-1 for none), both of which are
    /// the caller's from here on, and for how many milliseconds it has been held; then for each client that has ended:
    /// the reason, milliseconds held and spliced, bytes up and down, 1 for a stranger, and its address as eight
    /// groups of IPv6.
    #[napi]
    pub fn shut(&self) -> Result<Float64Array> {
        let Some(Shut { dialling, spliced, news }) = self.plane.shut_lane(self.id) else {
            return Ok(Float64Array::new(vec![0.0; 5]));
        };
        let mut row = Vec::with_capacity(5 + news.handed.len() * 3 + news.ended.len() * 14);
        let trouble = news.trouble.map_or(0, |errno| errno.raw_os_error());
        row.extend([
            dialling.into(),
            spliced.into(),
            news.joined.into(),
            trouble.into(),
            news.handed.len() as f64,
        ]);
        for Handed { client, target, held_ms } in news.handed {
            let fd = |fd: std::os::fd::OwnedFd| f64::from(fd.into_raw_fd());
            row.extend([fd(client), target.map_or(-1.0, fd), held_ms as f64]);
        }
        for GuestEnded { ended, address, held_ms, spliced_ms, stranger } in news.ended {
            let counts = [held_ms, spliced_ms, ended.up, ended.down].map(|count| count as f64);
            row.push(ended.reason as u32 as f64);
            row.extend(counts);
            row.push(f64::from(u8::from(stranger)));
            row.extend(groups(address).map(f64::from));
        }
        Ok(Float64Array::new(row))
    }

    /// Clients on their way to the target, and those who are to be handed over.
    #[napi(getter)]
    pub fn held(&self) -> u32 {
        self.counts()[0]
    }

    #[napi(getter)]
    pub fn spliced(&self) -> u32 {
        self.counts()[1]
    }

    /// Has the clients that are on their way handed over, without what they had of the target.
    #[napi]
    pub fn recall(&self) {
        self.plane.recall_lane(self.id);
    }

    /// Ends every client of the lane by a reset.
    #[napi]
    pub fn cut(&self) {
        self.plane.cut_lane(self.id);
    }

    /// Stops listening. The clients stay.
    #[napi]
    pub fn close(&self) {
        self.plane.close_lane(self.id);
    }

    fn counts(&self) -> [u32; 2] {
        self.plane.lane_counts(self.id).unwrap_or_default()
    }
}

fn groups(address: IpAddr) -> [u16; 8] {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().segments(),
        IpAddr::V6(address) => address.segments(),
    }
}
