// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "roce/wire/aeth.h"
#include "roce/wire/arp.h"
#include "roce/wire/atomiceth.h"
#include "roce/wire/bth.h"
#include "roce/wire/cm_messages.h"
#include "roce/wire/cma.h"
#include "roce/wire/cnp.h"
#include "roce/wire/cooked.h"
#include "roce/wire/deth.h"
#include "roce/wire/ethernet.h"
#include "roce/wire/feth.h"
#include "roce/wire/grh.h"
#include "roce/wire/icmp.h"
#include "roce/wire/icmpv6.h"
#include "roce/wire/ieth.h"
#include "roce/wire/igmp.h"
#include "roce/wire/immdt.h"
#include "roce/wire/ipv4.h"
#include "roce/wire/ipv6.h"
#include "roce/wire/lldp.h"
#include "roce/wire/mac_control.h"
#include "roce/wire/mad.h"
#include "roce/wire/mld.h"
#include "roce/wire/qcn.h"
#include "roce/wire/rdeth.h"
#include "roce/wire/reth.h"
#include "roce/wire/router_alert.h"
#include "roce/wire/tunnel.h"
#include "roce/wire/udp.h"
#include "roce/wire/xrceth.h"

namespace roce {

/// A list of header types.
template <HeaderType... Headers>
struct HeaderList {
  /// Calls `use.template operator()<H>()` for each header type.
  template <typename Use>
  static constexpr void for_each(Use use) {
    (use.template operator()<Headers>(), ...);
  }
};

/// Every header with fields, in the order of `HeaderId`.
using AllHeaders =
    HeaderList<Ethernet, VlanTag, LinuxSll, LinuxSll2, Ipv4, Ipv6, Grh, Udp, Vxlan, Geneve, Gre, Erspan2, Erspan3,
               MplsLabel, Bth, Rdeth, Deth, XrcEth, Feth, Reth, AtomicEth, Aeth, AtomicAckEth, ImmDt, Ieth, CnpReserved,
               Mad, CmReq, CmMra, CmRej, CmRep, CmRtu, CmDreq, CmDrep, CmSidrReq, CmSidrRep, CmLap, CmApr, Cma,
               MacControl, Pfc, Pause, LldpTlv, LldpOrg, DcbxEts, DcbxEtsRecommendation, DcbxPfc, DcbxApp, DcbxAppEntry,
               CnTag, Cnm, Arp, Icmp, IcmpEcho, Icmpv6, NeighbourSolicitation, NeighbourAdvertisement, NdLinkLayer,
               Igmp, IgmpReport, IgmpRecord, Mld, MldReport, MldRecord, Ipv4RouterAlert, Ipv6RouterAlert>;

}  // namespace roce
