"""Hostile callback addresses; `{port}` is where a listener waits on the loopback addresses."""

# What each trick relies on stands beside it.
FORBIDDEN_ADDRESSES = [
    "http://127.0.0.1:{port}/",
    "http://127.1:{port}/",  # short
    "http://127.0.1:{port}/",
    "http://2130706433:{port}/",  # decimal
    "http://0x7f000001:{port}/",  # hexadecimal
    "http://0X7F.0x0.0x0.0x1:{port}/",
    "http://0x7f.1:{port}/",
    "http://017700000001:{port}/",  # octal
    "http://0177.0.0.1:{port}/",
    "http://0177.0.0.01:{port}/",
    "http://127.0.0.01:{port}/",
    "http://127.0.0.1.:{port}/",  # trailing dot
    "http://127.000.000.001:{port}/",
    "http://127.0.0.1.0x:{port}/",
    "http://6425673729:{port}/",  # overflows into 127.0.0.1
    "http://0:{port}/",  # this host
    *("http://0.0.0.0:{port}/", "http://127.255.255.254:{port}/", "http://[::1]:{port}/"),
    *("http://[::]:{port}/", "http://[0:0:0:0:0:0:0:1]:{port}/"),
    "http://[0000:0000:0000:0000:0000:0000:0000:0001]:{port}/",
    "http://[::ffff:127.0.0.1]:{port}/",  # IPv4-mapped
    "http://[::ffff:7f00:1]:{port}/",
    "http://[0:0:0:0:0:ffff:127.0.0.1]:{port}/",
    "http://[::127.0.0.1]:{port}/",  # IPv4-compatible
    "http://[::ffff:0:127.0.0.1]:{port}/",  # IPv4-translated
    "http://[64:ff9b::127.0.0.1]:{port}/",  # NAT64
    "http://[64:ff9b::7f00:1]:{port}/",
    "http://[64:ff9b:1::7f00:1]:{port}/",  # NAT64 of a local network
    "http://[2002:7f00:1::]:{port}/",  # 6to4
    "http://[2001:0:7f00:1::80ff:fffe]:{port}/",  # Teredo
    "http://[2606:4700::5efe:7f00:1]:{port}/",  # ISATAP
    "http://[::1%25lo]:{port}/",  # zone
    *("http://[::1%lo]:{port}/", "http://[fe80::1%25lo]:{port}/", "http://[fe80::1]:{port}/"),
    "http://[fc00::1]:{port}/",
    "http://[fd00:ec2::254]:{port}/",  # metadata
    "http://[fec0::1]:{port}/",  # site-local
    "http://[ff02::1]:{port}/",  # multicast
    "http://[2001:db8::1]:{port}/",
    "http://[3fff::1]:{port}/",
    "http://[100::1]:{port}/",  # discard
    "http://[5f00::1]:{port}/",  # segment routing
    *("http://10.0.0.1:{port}/", "http://172.16.0.1:{port}/", "http://172.31.255.255:{port}/"),
    *("http://192.168.0.1:{port}/", "http://169.254.169.254:{port}/latest/meta-data/"),
    *("http://2852039166:{port}/latest/meta-data/", "http://100.64.0.1:{port}/"),
    "http://100.100.100.200:{port}/",  # metadata
    "http://168.63.129.16:{port}/",  # metadata
    "http://192.0.0.192:{port}/",  # metadata
    *("http://192.0.2.1:{port}/", "http://198.18.0.1:{port}/", "http://198.51.100.1:{port}/"),
    *("http://203.0.113.1:{port}/", "http://224.0.0.1:{port}/", "http://240.0.0.1:{port}/"),
    "http://255.255.255.255:{port}/",
]
UNREADABLE = [
    "http://public.test@127.0.0.1:{port}/",  # user-info
    *("http://public.test:80@127.0.0.1:{port}/", "http://127.0.0.1:{port}@public.test/"),
    *("http://@127.0.0.1:{port}/", "http://public.test%40127.0.0.1:{port}/"),
    "http://127.0.0.1:{port}#@public.test/",  # where a host ends
    *("http://public.test#@127.0.0.1:{port}/", "http://127.0.0.1:{port}\\@public.test/"),
    *("http://public.test\\@127.0.0.1:{port}/", "http:\\\\127.0.0.1:{port}\\"),
    "http://127.0.0.1:{port}\t/",  # white space and control characters
    *("http://127.0.0.1\n:{port}/", "http://127.0.0.1:{port}/\r\nHost: public.test\r\n\r\n"),
    *("http://127.0.0.1:{port}/ HTTP/1.1\r\nX: y", " http://127.0.0.1:{port}/"),
    *("http://127.0.0.1\x00.public.test:{port}/", "http://127.0.0.1%00.public.test:{port}/"),
    *("http://%31%32%37.0.0.1:{port}/", "http://127.0.0.1%2f.public.test:{port}/"),
    "http:127.0.0.1:{port}/",  # slashes
    *("http:/127.0.0.1:{port}/", "http:///127.0.0.1:{port}/", "//127.0.0.1:{port}/"),
    *("127.0.0.1:{port}/", "http://", ""),
    "http://[::1:{port}/",  # brackets
    *("http://::1:{port}/", "http://[127.0.0.1]:{port}/", "http://[::1].public.test:{port}/"),
    "http://[v1.::1]:{port}/",
    "http://public.test:{port}:{port}/",  # ports
    "http://127.0.0.1:/",
    "http://127.0.0.1:0x{port}/",
    "http://127.0.0.1:+{port}/",
    "file:///etc/passwd",  # schemes
    *("gopher://127.0.0.1:{port}/_SET%20a%20b", "ftp://127.0.0.1:{port}/"),
    *("dict://127.0.0.1:{port}/info", "unix:///run/valkey.sock"),
    *("http+unix://%2Frun%2Fvalkey.sock/", "jar:http://127.0.0.1:{port}/!/"),
    "javascript:fetch('http://127.0.0.1:{port}/')",
    "http://１２７.０.０.１:{port}/",  # other scripts that become ASCII
    *("http://127。0。0。1:{port}/", "http://①②⑦.⓪.⓪.①:{port}/", "http://[：：1]:{port}/"),
    *("http://public.test:{port}/путь", "http://-127.0.0.1:{port}/"),
    *("http://public..test:{port}/", "http://.public.test:{port}/", "http://pub lic.test:{port}/"),
    "http://pub_lic!.test:{port}/",
    "http://" + "a." * 130 + "test:{port}/",
    "http://" + "a" * 64 + ".test:{port}/",
    "http://public.test:{port}/" + "a" * 2_048,
]
# Names whose addresses are forbidden, by a resolver that the tests hand in.
NAMES = {
    "loopback.test": ["127.0.0.1"],
    "loopback6.test": ["::1"],
    "one-of-two.test": ["93.184.215.14", "127.0.0.1"],
    "two-of-two.test": ["127.0.0.1", "93.184.215.14"],
    "private.test": ["192.168.1.1"],
    "metadata.test": ["169.254.169.254"],
    "mapped.test": ["::ffff:127.0.0.1"],
    "nat64.test": ["64:ff9b::7f00:1"],
    "six-to-four.test": ["2002:7f00:1::1"],
    "unspecified.test": ["0.0.0.0"],  # noqa: S104  # not bound to
    "zone.test": ["fe80::1%lo"],
    "nonsense.test": ["localhost"],
    "nothing.test": [],
    "many.test": [f"93.184.215.{n}" for n in range(40)],
    "xn--bcher-kva.test": ["127.0.0.1"],
}
# Names that the system itself resolves to this machine.
OWN_NAMES = ["localhost", "LOCALHOST", "ⓛocalhost", "localhost.localdomain"]
ODD_PORTS = [0, 1, 22, 25, 6379, 8080, 65535, 65536, 99999]
