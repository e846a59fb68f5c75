/// A self-signed certificate for 127.0.0.1, made for these tests with `openssl req -x509`; it opens nothing.
enum LoopbackCertificate {
    static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBmDCCAT6gAwIBAgIUB3iV89M7DEsTUPrTMWo6ImqpO/4wCgYIKoZIzj0EAwIw
        GDEWMBQGA1UEAwwNbG9vcGJhY2stdGVzdDAgFw0yNjExMzAwNTQ3NDJaGA8yMTI2
        MTEwNjA1NDc0MlowGDEWMBQGA1UEAwwNbG9vcGJhY2stdGVzdDBZMBMGByqGSM49
        AgEGCCqGSM49AwEHA0IABGl74Q+fAuce+1Gg7dvq85+BLTgsNUmfB1xjRior6KMa
        JEIxnmonzBzxsGw5nL8VagzxTPShwPmhb6wplYqcWfOjZDBiMB0GA1UdDgQWBBSt
        gDFz+8oCkjjAj2fijSnidr+a7TAfBgNVHSMEGDAWgBStgDFz+8oCkjjAj2fijSni
        dr+a7TAPBgNVHREECDAGhwR/AAABMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0E
        AwIDSAAwRQIgChgPrnotDxZNVloAp+3d3wvUm5W9Sob8hW8MjHtkIxgCIQDA+ioY
        wwx4+Hps4xZmalxdE0odPit/E9oFW+QF7E/kAg==
        -----END CERTIFICATE-----
        """

    static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgwuWV4C8tpaC9sLpM
        aZlI55CPuv0rkrcV64ZxYKreaQShRANCAARpe+EPnwLnHvtRoO3b6vOfgS04LDVJ
        nwdcY0YqK+ijGiRCMZ5qJ8wc8bBsOZy/FWoM8Uz0ocD5oW+sKZWKnFnz
        -----END PRIVATE KEY-----
        """
}
