#!/bin/sh
# Makes an authority, and certificates by it for a server and a client, in the folder of the first argument.
# For trying TLS: an authority of your own keeps its key elsewhere.
set -e
cd "$1"
new_key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1"; }

new_key authority.key
openssl req -x509 -new -key authority.key -days 365 -subj "/CN=Authority of an example" -out authority.pem

for who in server client; do
    new_key $who.key
    openssl req -new -key $who.key -subj "/CN=$who" -out $who.csr
    printf 'subjectAltName = DNS:localhost, IP:127.0.0.1\nbasicConstraints = CA:false\n' > $who.ext
    openssl x509 -req -in $who.csr -CA authority.pem -CAkey authority.key -CAcreateserial -days 365 \
        -extfile $who.ext -out $who.pem
    rm $who.csr $who.ext
done
