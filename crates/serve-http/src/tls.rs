//! TLS for a port.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::{self, ServerConfig};

/// Why a port cannot be encrypted.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file is not what it should be.
    #[error("`{}` cannot be read as PEM; give a certificate chain and its private key", .0.display())]
    File(PathBuf, #[source] rustls_pki_types::pem::Error),
    /// The two do not go together.
    #[error("the certificate and the key cannot be used")]
    Unusable(#[from] rustls::Error),
}

/// Encrypts with this certificate chain and key.
pub fn tls_acceptor(certificate: &Path, key: &Path) -> Result<TlsAcceptor, TlsError> {
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect)
        .map_err(|error| TlsError::File(certificate.to_owned(), error))?;
    let private =
        PrivateKeyDer::from_pem_file(key).map_err(|error| TlsError::File(key.to_owned(), error))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, private)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
