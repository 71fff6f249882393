use super::newest;

#[test]
fn the_newest_kernel_is_found_by_its_numbers() {
    let names = "linux-image-6.1.0-9-cloud-amd64\nlinux-image-6.1.0-50-cloud-amd64\nlinux-image-6.1.0-50-amd64\n\
                 linux-image-6.12.95+deb12-cloud-amd64-unsigned\nlinux-image-cloud-amd64\n";
    assert_eq!(newest(names), Some("linux-image-6.1.0-50-cloud-amd64"));
    let names = "linux-image-6.19.14+deb13-cloud-amd64\nlinux-image-7.2.6+deb13-cloud-amd64\n";
    assert_eq!(newest(names), Some("linux-image-7.2.6+deb13-cloud-amd64"));
    let names = "linux-binary-7.2.6+deb13-cloud-amd64\nlinux-image-7.2.6+deb13-cloud-amd64\n";
    assert_eq!(newest(names), Some("linux-binary-7.2.6+deb13-cloud-amd64"));
    assert_eq!(newest("linux-image-rt-amd64-dbg\n"), None);
}
